import type { Context } from 'hono'
import { refuse } from '../problem.ts'

/** In which headers a proxy says whom it asks for. */
const forwardingHeaders = ['cf-connecting-ip', 'x-forwarded-for', 'x-real-ip']

/** A request, or what a handler of Hono is given. */
type Asking = Request | Context

/**
 * Whether a request comes from this machine: for a server that is tried out. The address of the socket where the host tells it (Node behind
 * `@hono/node-server`, Deno, Bun), and every address that a proxy names, must be loopback. So must the name that was asked for: a page elsewhere
 * can make its own name mean 127.0.0.1.
 *
 * **Contract**: never throws. A host that tells no address, and stands behind a proxy that names none, is believed: listen on loopback there.
 *
 * Source: docs/http-and-workers.md
 */
export function onLoopback(asking: Asking): boolean {
  const request = 'req' in asking ? asking.req.raw : asking
  const { headers, url } = request
  const env: unknown = 'req' in asking ? asking.env : undefined
  const name = (headers.get('host') ?? new URL(url).host).replace(/:\d*$/, '').toLowerCase()
  const addresses = [socketAddress(env, request), ...forwardingHeaders.flatMap((header) => headers.get(header)?.split(',') ?? [])]
  return isLoopbackName(name) && addresses.every((address) => address === undefined || isLoopbackAddress(address.trim()))
}

/** Refuses whoever is not on this machine. */
export function assertLoopback(c: Context): void {
  if (onLoopback(c)) return
  refuse(403, 'notLoopback', 'This server answers its own machine only. To let others in, give createAgentApp an authorize function.')
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name)
}

function isLoopbackAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '').replace(/^::ffff:/i, '')
  return bare === '::1' || /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(bare)
}

/** Who is at the other end, where the host hands it to the app. */
function socketAddress(env: unknown, request: Request): string | undefined {
  const server = at(env, 'server') ?? env
  const candidates = [
    at(at(at(env, 'incoming'), 'socket'), 'remoteAddress'),
    at(at(env, 'remoteAddr'), 'hostname'),
    at(requestIp(server, request), 'address'),
  ]
  return candidates.find((each) => typeof each === 'string')
}

/** As Bun's server tells it. */
function requestIp(server: unknown, request: Request): unknown {
  const ask = at(server, 'requestIP')
  return typeof ask === 'function' ? Reflect.apply(ask, server, [request]) : undefined
}

function at(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
