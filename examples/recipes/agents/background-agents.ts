import { Agent, defineTool, textOf } from 'phi-core'
import { SubAgentTool } from 'phi-core/agents'
import { scripted } from 'phi-core/testing'

const readFile = defineTool<{ path: string }>({
  name: 'read_file',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute: ({ path }) => `${path} is about bees.`,
})

export async function backgroundAgents(write: (line: string) => void): Promise<void> {
  // Scripted models; no API call is made.
  const researcher = new SubAgentTool({
    name: 'researcher',
    description: 'Reads files and reports, in the background.',
    model: scripted([{ toolCalls: [{ name: 'read_file', arguments: { path: 'a.md' } }] }, { text: 'It is about bees.' }]),
    tools: [readFile],
    background: true,
  })
  const model = scripted([
    { toolCalls: [{ name: 'researcher', arguments: { task: 'What is a.md about?' } }] },
    { text: 'I started the research and will report back.' },
    { text: 'The file is about bees.' },
  ])
  const run = new Agent({ model, tools: [researcher] }).prompt('Find out what a.md says.')
  for await (const event of run) {
    if (event.type === 'backgroundStart') write(`${event.backgroundId} starts: ${event.task}`)
    if (event.type === 'backgroundEnd') write(`${event.backgroundId} ends: ${textOf(event.result.content)}`)
    if (event.type !== 'messageEnd' || event.message.role === 'extension') continue
    const text = textOf(event.message.content)
    if (text !== '') write(`${event.message.role}: ${text}`)
  }
  write((await run.result).status)
}
