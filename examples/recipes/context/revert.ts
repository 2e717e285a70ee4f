import { Agent, defineTool, textOf } from 'phi-core'
import { scripted } from 'phi-core/testing'
import { revertTool } from 'phi-core/tools'

const connect = defineTool<{ port: number }>({
  name: 'connect',
  description: 'Connects to a port.',
  parameters: { type: 'object', properties: { port: { type: 'integer' } }, required: ['port'] },
  execute: ({ port }) => `Port ${port}: refused. ${'Trace … '.repeat(200)}`,
})

export async function wentBack(write: (line: string) => void): Promise<void> {
  // A scripted model; no API call is made. Its first attempt fails, so it returns to the question.
  const back = { category: 'failure', step: 'n0', summary: 'Port 80 refuses.' }
  const model = scripted([
    { toolCalls: [{ name: 'connect', arguments: { port: 80 } }] },
    { toolCalls: [{ name: 'revert_to_state', arguments: back }] },
    { text: 'I will try another port.' },
  ])
  const agent = new Agent({ model, tools: [connect, revertTool()] })
  for await (const event of agent.prompt('Connect.')) {
    if (event.type === 'revertApplied') write(`back to n${event.target}: ${event.applied}, abandoned: ${event.abandonedNodeIds.join(', ')}`)
  }
  for (const [turn, { messages }] of model.provider.requests.entries()) write(`request ${turn}: ${messages.length} messages`)
  for (const block of model.provider.requests[2]?.messages[0]?.content ?? []) write(textOf([block]))
}
