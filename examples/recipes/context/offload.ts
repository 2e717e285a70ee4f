import { Agent, defineTool, textOf } from 'phi-core'
import { scripted } from 'phi-core/testing'
import { memoryWorkspace, readFileTool } from 'phi-core/tools'

const dump = defineTool({
  name: 'dump',
  description: 'Lists all orders.',
  parameters: { type: 'object' },
  execute: () => Array.from({ length: 5000 }, (_, at) => `order ${at}`).join('\n'),
})

export async function longResult(write: (line: string) => void): Promise<void> {
  const workspace = memoryWorkspace()
  // A scripted model needs no network. It reads the part of the file that it needs.
  const model = scripted(({ messages }, turn) => {
    if (turn === 0) return { toolCalls: [{ name: 'dump', arguments: {} }] }
    const [, path = ''] = /in the file (\S+\.txt)/.exec(JSON.stringify(messages)) ?? []
    return turn === 1 ? { toolCalls: [{ name: 'read_file', arguments: { path, offset: 2500, limit: 1 } }] } : { text: 'It is there.' }
  })
  const tools = [dump, readFileTool({ workspace })]
  const { messages } = await new Agent({ model, tools, offload: { over: 20_000, workspace } }).prompt('Is there an order 2499?').result
  for (const message of messages) {
    if (message.role !== 'toolResult') continue
    const text = textOf(message.content)
    write(`${message.toolName}: ${text.length} characters, from ${JSON.stringify(text.slice(0, 20))}`)
  }
  for (const { path } of await workspace.list('tool-results')) write(`the file: ${(await workspace.read(path)).length} bytes`)
}
