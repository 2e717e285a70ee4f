import { Agent, defineTool, textOf } from 'phi-core'
import { scripted } from 'phi-core/testing'
import { prunTools } from 'phi-core/tools'

const readLog = defineTool({
  name: 'read_log',
  description: 'Reads the log.',
  parameters: { type: 'object' },
  execute: () => 'GET / 200\n'.repeat(400),
})

export async function pruned(write: (line: string) => void): Promise<void> {
  // A scripted model; no API call is made. It reads the log, prunes it and continues.
  const memo = 'The log has 400 requests, all with status 200.'
  const model = scripted([
    { toolCalls: [{ name: 'read_log', arguments: {} }] },
    { toolCalls: [{ name: 'prun_with_memo', arguments: { tokens: 900, memo } }] },
    { text: 'No errors.' },
  ])
  const agent = new Agent({ model, tools: [readLog, ...prunTools()] })
  for await (const event of agent.prompt('Any errors?')) {
    if (event.type === 'prunApplied') write(`removed: ${event.messagesRemoved} messages, about ${event.tokensRemoved} tokens`)
  }
  for (const { role, content } of model.provider.requests.at(-1)?.messages ?? []) write(`${role}: ${textOf(content) || '(a call)'}`)
  write(`history: ${agent.messages.length} messages`)
}
