import { Client as NewClient, InMemoryTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { McpClientLike } from '../../adapters/mcp/index.ts'
import type { JsonObject } from '../../src/index.ts'

/** The SDK's own generates code, which workerd refuses; nothing here is checked by it. */
const unused = { getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'unused' }) }

/** A request as a server of these tests gets it. */
export interface Asked {
  method?: string
  id?: number | string
  params?: { name?: string; arguments?: JsonObject; cursor?: string; _meta?: { progressToken?: number | string } }
}

/** What a server answers with; `undefined`: nothing. */
export type Answer = { result: unknown } | { error: { code: number; message: string } } | undefined

/** A server without an SDK, so that it can say what no SDK lets it say. */
export interface PlainServer {
  /** What was asked, in order. */
  readonly asked: Asked[]
  /** Resolves when it has got a message of that method; of none: an answer. */
  got(method: string | undefined): Promise<void>
  send(message: object): void
}

export type Answering = (asked: Asked, server: PlainServer) => Answer | Promise<Answer>

export interface End {
  onmessage?: ((message: never) => void) | undefined
  send(message: never): Promise<void>
  start(): Promise<void>
}

export function serve(end: End, answering: Answering): PlainServer {
  const asked: Asked[] = []
  const send = (message: object) => void end.send({ jsonrpc: '2.0', ...message } as never).catch(() => undefined)
  const waiting = new Map<string | undefined, () => void>()
  const got = (method: string | undefined) =>
    new Promise<void>((resolve) => {
      if (asked.some((one) => one.method === method)) resolve()
      else waiting.set(method, resolve)
    })
  const server = { asked, got, send }
  end.onmessage = (message: never) => {
    const request: Asked = message
    asked.push(request)
    waiting.get(request.method)?.()
    void (async () => {
      const answer =
        request.method === 'initialize'
          ? {
              result: {
                protocolVersion: '2025-06-18',
                capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, completions: {} },
                serverInfo: { name: 'plain', version: '1' },
              },
            }
          : await answering(request, server)
      if (request.id !== undefined && request.method !== undefined && answer !== undefined) send({ id: request.id, ...answer })
    })()
  }
  void end.start()
  return server
}

/** The two generations of the official client, connected to a plain server in memory. */
export const generations: Record<string, (answering: Answering) => Promise<{ client: McpClientLike; server: PlainServer }>> = {
  'sdk 1.x': async (answering) => {
    const [near, far] = InMemoryTransport.createLinkedPair()
    const server = serve(far, answering)
    const client = new Client({ name: 'test', version: '1' }, { jsonSchemaValidator: unused })
    await client.connect(near)
    return { client, server }
  },
  'client 2.x': async (answering) => {
    const [near, far] = NewTransport.createLinkedPair()
    const server = serve(far, answering)
    const client = new NewClient({ name: 'test', version: '1' })
    await client.connect(near)
    return { client, server }
  },
}

/** Answers `tools/list` with `tools()`, page by page where there are several, and calls with `call`. */
export function offering(tools: () => object[], call: Answering = () => ({ result: { content: [] } })): Answering {
  return (asked, server) =>
    asked.method === 'tools/list' ? { result: { tools: tools() } } : asked.method === 'tools/call' ? call(asked, server) : undefined
}
