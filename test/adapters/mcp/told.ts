import { expect } from 'vitest'
import type { McpToolSet } from '../../../adapters/mcp/index.ts'
import { Agent, type AgentEvent, type JsonObject, textOf } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

/** What a model that calls a tool once is told. */
export async function told(tools: McpToolSet, name = 'act', args: JsonObject = {}, listen: (event: AgentEvent) => void = () => undefined) {
  const model = scripted([{ toolCalls: [{ name, arguments: args }] }, { text: 'done' }])
  const run = new Agent({ model, tools }).prompt('go')
  run.subscribe(listen)
  const { status, messages } = await run.result
  expect(status).toBe('completed')
  const [answer] = messages.flatMap((message) => (message.role === 'toolResult' ? [message] : []))
  return { text: answer === undefined ? '' : textOf(answer.content), isError: answer?.isError }
}
