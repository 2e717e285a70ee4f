import { Agent, defineTool, textOf } from 'phi-core'
import { SubAgentTool } from 'phi-core/agents'
import { scripted } from 'phi-core/testing'

const readFile = defineTool<{ path: string }>({
  name: 'read_file',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute: ({ path }) => `${path} is about bees.`,
})

export async function delegated(write: (line: string) => void): Promise<void> {
  // Scripted models; no API call is made.
  const researcher = new SubAgentTool({
    name: 'researcher',
    description: 'Reads files and reports.',
    systemPrompt: 'Report in one sentence.',
    model: scripted([{ toolCalls: [{ name: 'read_file', arguments: { path: 'a.md' } }] }, { text: 'It is about bees.' }]),
    tools: [readFile],
    maxTurns: 5,
  })
  const model = scripted([{ toolCalls: [{ name: 'researcher', arguments: { task: 'What is a.md about?' } }] }, { text: 'Bees.' }])
  const run = new Agent({ model, tools: [researcher] }).prompt('Find out what a.md says.')
  for await (const event of run) {
    // Progress: the text so far, and the calls of the sub-agent.
    if (event.type === 'toolExecutionUpdate') write(textOf(event.partialResult.content).trim().replace('\n', ' / '))
    if (event.type === 'toolExecutionEnd') write(`result: ${textOf(event.result.content)} [loop …${event.childLoopId?.slice(-6)}]`)
  }
  write(await run.text())
}
