import type { Context, Env } from 'hono'
import { hasHalf } from '../../../src/base/text/characters.ts'
import { aFlag, aFunction, either, type OptionTable, oneOf } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { assertLoopback } from './loopback.ts'
import { refuse } from './problem.ts'

/** Default limit for a server with a single user. */
const ofOnlyUser = 1000
/** Default limit per user. */
export const shareOfNamed = 100

/**
 * Returns a caller's limit for a shared resource, such as runs, streams or sessions in memory. Uses the configured limit. Otherwise uses
 * `ofNamed`, or 1,000 on a server with a single user.
 */
export function shareOf({ identity }: Caller, given: number | undefined, ofNamed = shareOfNamed): number {
  return given ?? (identity === undefined ? ofOnlyUser : ofNamed)
}

/**
 * The identity that owns a request's sessions, or `false` to reject the request. `true`, as returned by `bearer`, means that the server has
 * a single user.
 */
export type Identity = string | boolean | undefined

/** Decides which requests to accept. `loopbackOnly` accepts only requests from this machine. */
export type Authorize<E extends Env = Env> = 'loopbackOnly' | ((c: Context<E>) => Identity | Promise<Identity>)

/** Options for trying out an app without `authorize`. The app accepts every request from this machine that no proxy forwarded. */
export type InDev<Options extends { authorize: unknown }> = Omit<Options, 'authorize'> & { dev: true; authorize?: never }

/** Options that authenticate requests. */
export interface Letting<E extends Env> {
  authorize?: Authorize<E>
  dev?: boolean
}

/** Validation shapes for the authentication options. */
export const lettingTable: OptionTable<Letting<Env>> = { authorize: either(oneOf('loopbackOnly'), aFunction), dev: aFlag }

/**
 * Returns an app's `authorize`. `maker` is the app's name in errors. Throws `ConfigError` `invalidOption` unless exactly one
 * option is set.
 */
export function lettingOf<E extends Env>(maker: string, { authorize, dev = false }: Letting<E>): Authorize<E> {
  if (dev && authorize !== undefined)
    throw new ConfigError('invalidOption', `${maker} has both dev and authorize. Remove dev if authorize checks access.`)
  if (dev) return 'loopbackOnly'
  if (authorize !== undefined) return authorize
  throw new ConfigError(
    'invalidOption',
    'The option authorize is undefined. Pass a function that identifies callers, such as bearer(secret). For local tests only, set dev: true.',
  )
}

/** The caller whose sessions a request may use. Without `identity`, the server has a single user. */
export interface Caller {
  identity?: string
}

/** The id of a session and its owner. */
export interface SessionAddress extends Caller {
  sessionId: string
}

const maxIdentityLength = 1024

/** Authenticates a request, and rejects it unless `authorize` returns `true` or a name. */
export async function callerOf<E extends Env>(c: Context<E>, authorize: Authorize<E>): Promise<Caller> {
  if (authorize === 'loopbackOnly') {
    assertLoopback(c)
    return {}
  }
  const answer: unknown = await authorize(c)
  if (answer === true) return {}
  if (typeof answer !== 'string' || answer === '' || answer.length > maxIdentityLength || hasHalf(answer)) {
    refuse(
      401,
      'unauthorized',
      'This request is not allowed. Send the credentials that this server requires. If its secret is unset or too short, it rejects all requests.',
    )
  }
  return { identity: answer }
}
