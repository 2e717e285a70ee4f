import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type McpToolsOptions, mcpTools } from '../../adapters/mcp/index.ts'
import { Agent, type AgentTool, type ToolContext, textOf } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { ToolOutput } from '../../src/types/tool/tool.ts'
import { context } from '../tools/context.ts'
import { type Asked, generations, offering, type PlainServer } from './in-memory.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe.each(Object.entries(generations))('the timeout of an MCP call: %s', (_, connect) => {
  /** A server whose call ends when the test says so. */
  async function slow(options: McpToolsOptions) {
    let asked: Asked = {}
    let finish: () => void = () => undefined
    const ended = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { client, server } = await connect(
      offering(
        () => [{ name: 'act', inputSchema: { type: 'object' } }],
        async (request) => {
          asked = request
          await ended
          return { result: { content: [{ type: 'text', text: 'finished' }] } }
        },
      ),
    )
    const tools = await mcpTools(client, options)
    const progressToken = () => asked.params?._meta?.progressToken
    return { tool: tools[0] as AgentTool, server, finish, progressToken } // the one that is offered
  }

  async function progressFor(ms: number, server: PlainServer, progressToken: () => unknown): Promise<void> {
    for (let at = 0; at < ms; at += 50) {
      server.send({ method: 'notifications/progress', params: { progressToken: progressToken(), progress: at, message: `at ${at}` } })
      await vi.advanceTimersByTimeAsync(50)
    }
  }

  const outcome = (call: ToolOutput | Promise<ToolOutput>) =>
    Promise.resolve(call).then(
      (result) => textOf(Object(result).content),
      (error: Error) => error.message,
    )

  async function called(options: McpToolsOptions, ms: number, ctx: ToolContext = context()) {
    const { tool, server, finish, progressToken } = await slow(options)
    const call = outcome(tool.execute({}, ctx))
    await server.got('tools/call')
    await progressFor(ms, server, progressToken)
    finish()
    await vi.advanceTimersByTimeAsync(0)
    const text = await call
    return { text, server }
  }

  it('restarts the call timeout with each progress notification', async () => {
    expect(await called({ timeoutMs: 100 }, 1000)).toMatchObject({ text: 'finished' })
  })

  it('times out without progress, and cancels the call on the server', async () => {
    const { tool, server } = await slow({ timeoutMs: 100 })
    const call = outcome(tool.execute({}, context()))
    await vi.advanceTimersByTimeAsync(99)
    await server.got('tools/call')
    await vi.advanceTimersByTimeAsync(1)
    expect(await call).toBe(
      'The MCP server sent neither a result nor progress within 100 ms: the call timed out and was cancelled. Whether it took effect is unknown.',
    )
    await server.got('notifications/cancelled')
  })

  it('ignores progress if resetTimeoutOnProgress is false', async () => {
    const { text } = await called({ timeoutMs: 100, resetTimeoutOnProgress: false }, 1000)
    expect(text).toBe(
      'The MCP server did not finish within 100 ms: the call timed out and was cancelled. Whether it took effect is unknown.',
    )
  })

  it('times out at totalTimeoutMs despite progress', async () => {
    const { text } = await called({ timeoutMs: 100, totalTimeoutMs: 500 }, 1000)
    expect(text).toBe(
      'The MCP server did not finish within 500 ms, although it reported progress: the call timed out and was cancelled. Whether it took effect is unknown.',
    )
  })

  it('defaults totalTimeoutMs to ten minutes', async () => {
    const { tool, server, progressToken } = await slow({ timeoutMs: 100_000 })
    const call = outcome(tool.execute({}, context()))
    await server.got('tools/call')
    for (let minute = 0; minute < 10; minute++) {
      server.send({ method: 'notifications/progress', params: { progressToken: progressToken(), progress: minute } })
      await vi.advanceTimersByTimeAsync(60_000)
    }
    expect(await call).toContain('within 600000 ms')
  })

  it('restarts the call timeout in an agent run too, and leaves no timer', async () => {
    const { tool, server, finish, progressToken } = await slow({ timeoutMs: 100 })
    const agent = new Agent({ model: scripted([{ toolCalls: [{ name: 'act', arguments: {} }] }, { text: 'done' }]), tools: [tool] })
    const run = agent.prompt('go')
    await vi.advanceTimersByTimeAsync(0)
    await server.got('tools/call')
    await progressFor(1000, server, progressToken)
    finish()
    await vi.advanceTimersByTimeAsync(0)
    const { messages } = await run.result
    expect(messages.find(({ role }) => role === 'toolResult')).toMatchObject({ isError: false, content: [{ text: 'finished' }] })
    await tool.execute({}, context())
    expect(vi.getTimerCount()).toBe(0)
  })
})
