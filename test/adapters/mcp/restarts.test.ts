import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js'
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectMcp, type McpToolSet, mcpTools } from '../../../adapters/mcp/index.ts'
import { freePort, startEverything } from './http-server.ts'
import { told } from './told.ts'

/** Far longer than a test may take: whoever waits for it hangs. */
const timeoutMs = 600_000

const tool = (name: string, annotations = {}) => ({ name, inputSchema: { type: 'object' as const }, annotations })
const tools = [tool('slow'), tool('mute'), tool('look', { readOnlyHint: true }), tool('quick')]

/** Keeps nothing: it has ids alone, so that a client believes that streams can be resumed. */
const forgetful: EventStore = { storeEvent: async () => randomUUID(), replayEventsAfter: async () => '' }

interface Setting {
  answers?: boolean
  eventStore?: EventStore
  /** Told of a call that gets no answer. */
  onCall?: () => void
}

/** A server of the official SDK at `port`. `slow` and `mute` never answer, `look` only where it `answers`; all but `mute` say that they have begun. */
async function start(port: number, { answers = false, eventStore, onCall }: Setting = {}): Promise<Server> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const begin = async (): Promise<StreamableHTTPServerTransport> => {
    const mcp = new McpServer({ name: 'restarting', version: '1' }, { capabilities: { tools: {} } })
    mcp.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
    mcp.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, _meta }) => {
      if (params.name === 'quick' || (params.name === 'look' && answers)) return { content: [{ type: 'text', text: 'ok' }] }
      const progressToken = _meta?.progressToken ?? 0
      if (params.name !== 'mute') await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
      onCall?.()
      return new Promise<never>(() => undefined)
    })
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      ...(eventStore && { eventStore }),
    })
    await mcp.connect(transport as Parameters<typeof mcp.connect>[0])
    return transport
  }
  const server = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (typeof id === 'string' && known === undefined) return response.writeHead(404).end('Session not found')
    return (known ?? (await begin())).handleRequest(request, response)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => stop(server))
  return server
}

async function stop(server: Server): Promise<void> {
  const isClosed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await isClosed
}

async function toolsAt(port: number): Promise<McpToolSet> {
  const set = await mcpTools(await connectMcp({ url: `http://127.0.0.1:${port}/mcp` }), { timeoutMs })
  onTestFinished(() => set.close())
  return set
}

/** A call, and when something has come of its answer. */
function calling(set: McpToolSet, name: string, args = {}) {
  let begun: () => void = () => undefined
  const isUnderWay = new Promise<void>((resolve) => {
    begun = resolve
  })
  const call = told(set, name, args, (event) => {
    if (event.type === 'progressMessage') begun()
  })
  return { call, isUnderWay }
}

const brokenOff = { text: expect.stringMatching(/mid-call.*unknown whether the call ran\.$/), isError: true }
const brokenOffTwice = { text: expect.stringMatching(/mid-call.*The retry failed/), isError: true }

describe('restarting a Streamable HTTP server during a call', () => {
  it.each<[string, Setting]>([
    ['that cannot resume', {}],
    ['that claims to resume', { eventStore: forgetful }],
  ])('fails only the active call on a server %s', async (_, setting) => {
    const port = await freePort()
    const server = await start(port, setting)
    const set = await toolsAt(port)
    const { call, isUnderWay } = calling(set, 'slow')
    await isUnderWay
    await stop(server)
    await start(port, setting)
    expect(await call).toEqual(brokenOff)
    expect(await told(set, 'quick')).toEqual({ text: 'ok', isError: false })
  })

  it('fails a call without response data', async () => {
    const port = await freePort()
    let called: () => void = () => undefined
    const isCalled = new Promise<void>((resolve) => {
      called = resolve
    })
    const server = await start(port, { onCall: () => called() })
    const set = await toolsAt(port)
    const call = told(set, 'mute')
    await isCalled
    await stop(server)
    expect(await call).toEqual(brokenOff)
  })

  it('fails later calls too if the server stays down', async () => {
    const port = await freePort()
    const server = await start(port, { eventStore: forgetful })
    const set = await toolsAt(port)
    const { call, isUnderWay } = calling(set, 'slow')
    await isUnderWay
    await stop(server)
    expect(await call).toEqual(brokenOff)
    expect(await told(set, 'quick')).toMatchObject({ isError: true })
  })

  it('repeats a call that is safe to repeat', async () => {
    const port = await freePort()
    const server = await start(port, { eventStore: forgetful })
    const set = await toolsAt(port)
    const { call, isUnderWay } = calling(set, 'look')
    await isUnderWay
    await stop(server)
    await start(port, { answers: true })
    expect(await call).toEqual({ text: 'ok', isError: false })
  })

  it('fails the call after one repeat if the server process is killed', async () => {
    const port = await freePort()
    const first = await startEverything('streamableHttp', port)
    const set = await mcpTools(await connectMcp({ url: `${first.url}/mcp` }), { timeoutMs })
    onTestFinished(() => set.close())
    const { call, isUnderWay } = calling(set, 'trigger-long-running-operation', { duration: 600, steps: 6000 })
    await isUnderWay
    await first.kill()
    expect(await call).toEqual(brokenOffTwice)
    await startEverything('streamableHttp', port)
    expect(await told(set, 'echo', { message: 'again' })).toMatchObject({ text: expect.stringContaining('again'), isError: false })
  })
})
