import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request, type Server, type ServerResponse } from 'node:http'

/** What a proxy does wrong with one request. `cut` after so many bytes of the answer, which may be before its first. */
export type Fault =
  | { type: 'cut' | 'stall'; afterBytes: number }
  | { type: 'refuse' | 'html' | 'badGateway' | 'duplicateFrames' | 'duplicateRequest' | 'none' }
  | { type: 'collect'; bytes: number }

/** A running proxy. */
export interface FaultProxy extends AsyncDisposable {
  url: string
  /** How often each fault was inflicted. */
  readonly counts: Partial<Record<Fault['type'], number>>
}

/** A proxy in front of `upstream`, on loopback, that does with each request what `next` says. */
export async function faultProxy(upstream: URL, next: (incoming: IncomingMessage) => Fault): Promise<FaultProxy> {
  const counts: FaultProxy['counts'] = {}
  const server = createServer((incoming, outgoing) => {
    const fault = next(incoming)
    counts[fault.type] = (counts[fault.type] ?? 0) + 1
    answer(upstream, incoming, outgoing, fault).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, counts, [Symbol.asyncDispose]: () => close(server) }
}

async function answer(upstream: URL, incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  if (fault.type === 'refuse') return void outgoing.destroy()
  if (fault.type === 'html') return void outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>Please sign in.</html>')
  if (fault.type === 'badGateway') return void outgoing.writeHead(502, { 'content-type': 'text/html', 'retry-after': '0' }).end('<html>')
  if (fault.type === 'duplicateRequest') {
    const twin = ask(upstream, incoming, body, outgoing)
    twin.then(
      (response) => response.destroy(),
      () => undefined,
    )
  }
  const response = await ask(upstream, incoming, body, outgoing)
  const headers: OutgoingHttpHeaders = { ...response.headers }
  delete headers['content-length']
  // Of an answer that is cut before its first byte the client does not see that there was one.
  if (fault.type === 'cut' && fault.afterBytes === 0) return void outgoing.destroy()
  outgoing.writeHead(response.statusCode ?? 500, headers)
  outgoing.flushHeaders()
  const pass = passing(outgoing, fault)
  for await (const chunk of response) if (!pass(chunk)) return
  pass(undefined)
  outgoing.end()
}

/** Passes bytes on as the fault lets it; false when there is no more to do. */
function passing(outgoing: ServerResponse, fault: Fault): (chunk: Buffer | undefined) => boolean {
  let held = Buffer.alloc(0)
  let passed = 0
  return (chunk) => {
    if (fault.type === 'cut' || fault.type === 'stall') {
      const rest = fault.afterBytes - passed
      const bytes = chunk ?? Buffer.alloc(0)
      passed += bytes.length
      if (bytes.length < rest) return outgoing.write(bytes) || true
      outgoing.write(bytes.subarray(0, rest), () => (fault.type === 'cut' ? outgoing.destroy() : undefined))
      // What stalls is held until the client leaves.
      return false
    }
    if (fault.type !== 'duplicateFrames' && fault.type !== 'collect') return chunk === undefined || outgoing.write(chunk) || true
    held = Buffer.concat([held, chunk ?? Buffer.alloc(0)])
    const end = fault.type === 'collect' ? (held.length >= fault.bytes ? held.length : 0) : held.lastIndexOf('\n\n') + 2
    const whole = chunk === undefined ? held : held.subarray(0, Math.max(0, end === 1 ? 0 : end))
    held = held.subarray(whole.length)
    outgoing.write(whole)
    if (fault.type === 'duplicateFrames') outgoing.write(whole)
    return true
  }
}

function ask(upstream: URL, incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): Promise<IncomingMessage> {
  const { host: _host, ...headers } = incoming.headers
  return new Promise((resolve, reject) => {
    const asked = request(new URL(incoming.url ?? '/', upstream), { method: incoming.method ?? 'GET', headers }, resolve)
    asked.on('error', reject)
    outgoing.on('close', () => asked.destroy())
    asked.end(body)
  })
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
