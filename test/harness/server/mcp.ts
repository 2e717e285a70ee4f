import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

/** What came to one base, in order. */
interface Heard {
  method: string
  authorization: string
  lastEventId: string
  asked: string
}

interface Call {
  id?: number | string
  method?: string
  params?: { _meta?: { progressToken?: number | string } }
}

/**
 * MCP over HTTP at `/mcp/<kind>/<id>`, and what came there at `/mcp-log/<kind>/<id>`.
 *
 * - `official`: the server of the official SDK, with sessions. `strict`: the same for those who bring `Bearer right` alone.
 * - `forgets`: knows no session after its first call. `leads-away`: redirects to `strict` under another name of this machine.
 * - `cut`: a stream that breaks three times in one call, once before it has said anything new.
 */
export class McpFixtures {
  readonly #transports = new Map<string, StreamableHTTPServerTransport>()
  readonly #heard = new Map<string, Heard[]>()
  readonly #cuts = new Map<string, number>()
  readonly #calls = new Map<string, Call>()

  async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, method = '' } = request
    const { pathname } = new URL(path, 'http://fixture')
    if (pathname.startsWith('/mcp-log/')) {
      response.end(JSON.stringify(this.#heard.get(pathname.replace('-log', '')) ?? []))
      return
    }
    const body = await text(request)
    const sent: Call = body.startsWith('{') ? JSON.parse(body) : {}
    const replies = {
      method,
      authorization: headers.authorization ?? '',
      lastEventId: String(headers['last-event-id'] ?? ''),
      asked: sent.method ?? '',
    }
    this.#heard.set(pathname, [...(this.#heard.get(pathname) ?? []), replies])
    response.setHeader('access-control-expose-headers', 'mcp-session-id, www-authenticate')
    const [, , kind = ''] = pathname.split('/')
    if (kind === 'leads-away') {
      const location = `http://${headers.host?.replace('127.0.0.1', 'localhost')}${pathname.replace('leads-away', 'strict')}`
      response.writeHead(307, { location }).end()
    } else if (kind === 'strict' && headers.authorization !== 'Bearer right') response.writeHead(401).end()
    else if (kind === 'cut') this.#cut(pathname, sent, replies, response)
    else await this.#official(pathname, kind, sent, request, response)
  }

  async #official(path: string, kind: string, sent: Call, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = String(request.headers['mcp-session-id'] ?? '')
    const known = this.#transports.get(given)
    if (kind === 'forgets' && sent.method === 'tools/call' && !this.#calls.has(path)) {
      this.#calls.set(path, sent)
      this.#transports.delete(given)
      await known?.close()
      response.writeHead(404).end('Session not found')
      return
    }
    if (given !== '' && known === undefined) {
      response.writeHead(404).end('Session not found')
      return
    }
    await (known ?? (await this.#begin())).handleRequest(
      request,
      response,
      sent.method === undefined && sent.id === undefined ? undefined : sent,
    )
  }

  async #begin(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#transports.set(id, transport),
    })
    const server = new McpServer({ name: 'official', version: '1' })
    server.registerTool(
      'echo',
      { description: 'Says it again.', inputSchema: { text: z.string() } },
      async ({ text: words }, { sendNotification, _meta }) => {
        const { progressToken } = _meta ?? {}
        if (progressToken !== undefined)
          await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } })
        return { content: [{ type: 'text', text: `you said ${words}` }] }
      },
    )
    // The transport says of its callbacks that they may be undefined, which the interface does not allow in so many words.
    await server.connect(transport as Parameters<typeof server.connect>[0])
    return transport
  }

  /** Events 1 to 4 are progress, 5 is the answer. The stream of the call breaks after 2, the next at once, the third after 4. */
  #cut(path: string, sent: Call, { method, lastEventId }: Heard, response: ServerResponse): void {
    if (sent.method === 'initialize' || sent.method === 'tools/list') {
      const result =
        sent.method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'cut', version: '1' } }
          : { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: sent.id, result }))
      return
    }
    if (sent.method === 'tools/call') this.#calls.set(path, sent)
    else if (method !== 'GET' || lastEventId === '') {
      response.writeHead(method === 'GET' ? 405 : 202).end()
      return
    }
    const call = this.#calls.get(path)
    const streams = (this.#cuts.get(path) ?? 0) + 1
    this.#cuts.set(path, streams)
    const last = [2, 2, 4, 5][streams - 1] ?? 5
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let at = Number(lastEventId) + 1; at <= last; at++) {
      const params = { progressToken: call?.params?._meta?.progressToken, progress: at }
      const message =
        at < 5 ? { method: 'notifications/progress', params } : { id: call?.id, result: { content: [{ type: 'text', text: 'whole' }] } }
      response.write(`id: ${at}\nretry: 1\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
    }
    response.end()
  }
}
