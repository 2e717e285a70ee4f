import type { Context } from 'hono'
import { refuse } from '../problem.ts'

/** In which headers a proxy says whom it asks for. */
const forwardingHeaders = ['cf-connecting-ip', 'x-forwarded-for', 'x-real-ip']

/**
 * Lets in who is on this machine: the address of the socket where the host tells it (Node behind `@hono/node-server`, Deno, Bun), and every
 * address that a proxy names, must be loopback, and so must the name the client asked for: a page elsewhere can make its own name mean 127.0.0.1.
 */
export function assertLoopback(c: Context): void {
  const name = hostName(c.req.header('host') ?? new URL(c.req.url).host)
  const addresses = [socketAddress(c), ...forwardingHeaders.flatMap((header) => c.req.header(header)?.split(',') ?? [])]
  const isLocal = isLoopbackName(name) && addresses.every((address) => address === undefined || isLoopbackAddress(address.trim()))
  if (!isLocal)
    refuse(403, 'notLoopback', 'This server answers its own machine only. To let others in, give createAgentApp an authorize function.')
}

function hostName(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase()
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name)
}

function isLoopbackAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '').replace(/^::ffff:/i, '')
  return bare === '::1' || /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(bare)
}

/** Who is at the other end, where the host hands it to the app. */
function socketAddress(c: Context): string | undefined {
  const env: unknown = c.env
  const server = at(env, 'server') ?? env
  const candidates = [
    at(at(at(env, 'incoming'), 'socket'), 'remoteAddress'),
    at(at(env, 'remoteAddr'), 'hostname'),
    at(requestIp(server, c.req.raw), 'address'),
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
