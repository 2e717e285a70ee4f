import type { Context, Env } from 'hono'
import { hasHalf } from '../../../src/base/text/characters.ts'
import { aFlag, aFunction, either, type OptionTable, oneOf } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { assertLoopback } from './loopback.ts'
import { refuse } from './problem.ts'

/** A single user gets the whole server. */
const ofOnlyUser = 1000
/** The default for each of several users. */
export const shareOfNamed = 100

/**
 * Returns a caller's limit of a shared resource (runs, streams, sessions in memory): the configured one, else `ofNamed`, or 1,000
 * for a single user.
 */
export function shareOf({ identity }: Caller, given: number | undefined, ofNamed = shareOfNamed): number {
  return given ?? (identity === undefined ? ofOnlyUser : ofNamed)
}

/**
 * The identity that owns the sessions of a request, or `false` to refuse it. `true` means that the server has a single user, as
 * `bearer` returns.
 */
export type Identity = string | boolean | undefined

/** Decides which requests get in. `loopbackOnly` accepts requests of this machine and refuses all others. */
export type Authorize<E extends Env = Env> = 'loopbackOnly' | ((c: Context<E>) => Identity | Promise<Identity>)

/**
 * Options to try an app out without `authorize`: accepts every request of this machine, and refuses those that a proxy forwards.
 */
export type InDev<Options extends { authorize: unknown }> = Omit<Options, 'authorize'> & { dev: true; authorize?: never }

/** Options that authenticate requests. */
export interface Letting<E extends Env> {
  authorize?: Authorize<E>
  dev?: boolean
}

/** Shapes of these options. */
export const lettingTable: OptionTable<Letting<Env>> = { authorize: either(oneOf('loopbackOnly'), aFunction), dev: aFlag }

/**
 * Returns the `authorize` of an app; `maker` names the app in errors. Throws `ConfigError` `invalidOption` unless exactly one
 * option is set.
 */
export function lettingOf<E extends Env>(maker: string, { authorize, dev = false }: Letting<E>): Authorize<E> {
  if (dev && authorize !== undefined)
    throw new ConfigError('invalidOption', `${maker} has both dev and authorize. Leave out dev where authorize says who is let in.`)
  if (dev) return 'loopbackOnly'
  if (authorize !== undefined) return authorize
  throw new ConfigError(
    'invalidOption',
    'authorize is undefined; it must say who is let in, as bearer(secret) does. To try it out on this machine only: dev: true.',
  )
}

/** The caller whose sessions a request may use. Without `identity` the server has a single user. */
export interface Caller {
  identity?: string
}

/** The id of a session and its owner. */
export interface SessionAddress extends Caller {
  sessionId: string
}

const maxIdentityLength = 1024

/** Authenticates the request. Refuses it unless `authorize` returns `true` or a name. */
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
