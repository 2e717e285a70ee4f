import type { Context } from 'hono'
import { isLoopbackHost } from '../../../src/base/private-host.ts'
import { fieldIn } from '../../../src/contract/json.ts'
import { refuse } from './problem.ts'

/** Headers that proxies, tunnels, load balancers and CDNs add. */
const forwardingNames = [
  /forward/,
  /^(?:.+-)?via$/,
  /(?:^|-)(?:client|cluster|connecting|original|peer|real|remote|source|src|true|user)-?(?:addr|address|host|ip|ipv6|port|proto|scheme|uri|url)$/,
  /^(?:akamai|cdn|cf|fastly|fly|incap|ngrok|proxy|tailscale|wl-proxy)-/,
  /^x-(?:amzn?|appengine|arr|azure|envoy|original|proto|proxy|real|remote|rewrite|scheme|url-scheme|vercel-(?!ai-))/,
  /^front-end-https$/,
]

/** Header that workerd sets to the socket address. Clients cannot set it. */
const workerdAddress = 'cf-connecting-ip'

/** A request, or the context of a Hono handler. */
type Asking = Request | Context

/**
 * Returns whether a request comes from this machine. Use it only for development.
 *
 * **Contract**
 * - The socket address is a loopback address, if the host exposes it (Node with `@hono/node-server`, Deno, Bun, workerd).
 * - No proxy has forwarded the request: it has no header such as `Forwarded`, `X-Forwarded-…`, `Via`, `X-Real-IP` or `CF-…`. No header
 *   value is an IP address.
 * - The `Host` is a loopback name. This prevents DNS rebinding by another site.
 * - Never throws. If the host exposes no address, decides by the headers only. On such hosts, listen on a loopback address.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function onLoopback(asking: Asking): boolean {
  const request = 'req' in asking ? asking.req.raw : asking
  const { headers, url } = request
  const env: unknown = 'req' in asking ? asking.env : undefined
  const addresses = [socketAddress(env, request), headers.get(workerdAddress) ?? undefined]
  return (
    isLoopback(headers.get('host') ?? new URL(url).host) &&
    addresses.every((address) => address === undefined || isLoopback(address)) &&
    !Array.from(headers).some(([name, value]) => name !== workerdAddress && isForwarding(name, value))
  )
}

/** Rejects requests from other machines. */
export function assertLoopback(c: Context): void {
  if (onLoopback(c)) return
  refuse(403, 'notLoopback', 'This server accepts only requests from its own machine, without a proxy. To allow others, set authorize.')
}

function isForwarding(name: string, value: string): boolean {
  return forwardingNames.some((pattern) => pattern.test(name)) || (name !== 'host' && value.split(',').every(isAddress))
}

/** Returns whether a text is an IP address, with or without a port. */
function isAddress(text: string): boolean {
  const bare = text.trim().replace(/^(?:for=)?"?|"$/gi, '')
  return /^\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?$/.test(bare) || /^(?:\[[\da-f:.]+\](?::\d+)?|[\da-f]*:[\da-f]*:[\da-f:.]*)$/i.test(bare)
}

/** Returns whether a text could be a host with an optional port: it contains no path and no user name. */
export function isHost(text: string): boolean {
  return /^[\w.:[\]-]+$/.test(text)
}

/** Returns whether a host or socket address, with or without a port, is a loopback address. */
function isLoopback(host: string): boolean {
  const url = `http://${/^[\da-f:.]*:[\da-f.]*:[\da-f:.]*$/i.test(host) ? `[${host}]` : host}`
  return isHost(host) && URL.canParse(url) && isLoopbackHost(new URL(url).hostname)
}

/** Returns the client's address, if the host exposes it. */
function socketAddress(env: unknown, request: Request): string | undefined {
  const server = fieldIn(env, 'server') ?? env
  const candidates = [
    fieldIn(fieldIn(fieldIn(env, 'incoming'), 'socket'), 'remoteAddress'),
    fieldIn(fieldIn(env, 'remoteAddr'), 'hostname'),
    fieldIn(requestIp(server, request), 'address'),
  ]
  return candidates.find((each) => typeof each === 'string')
}

/** Returns the address that Bun's server exposes. */
function requestIp(server: unknown, request: Request): unknown {
  const ask = fieldIn(server, 'requestIP')
  return typeof ask === 'function' ? Reflect.apply(ask, server, [request]) : undefined
}
