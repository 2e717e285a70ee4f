import { Agent, defineTool, textOf } from 'phi-core'
import type { LoopHooks } from 'phi-core/loop'
import { scripted } from 'phi-core/testing'

const remove = defineTool<{ path: string }>({
  name: 'remove',
  description: 'Removes a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute: ({ path }) => `removed ${path}`,
})

/** Reports every step, refuses paths in /etc, and moves relative paths to /srv. */
function house(write: (line: string) => void): LoopHooks {
  return {
    beforeTurn: ({ turnIndex }) => write(`turn ${turnIndex}`),
    beforeToolExecution: async ({ args }) => {
      const path = String(args.path)
      if (path.startsWith('/etc/')) return false
      return path.startsWith('/') ? undefined : { arguments: { path: `/srv/${path}` } }
    },
    afterToolExecution: ({ toolName, result }) => write(`${toolName}: ${textOf(result.content)}`),
    afterLoop: ({ status, usage }) => write(`${status}, ${usage.totalTokens} tokens`),
  }
}

export async function hooked(write: (line: string) => void): Promise<void> {
  // A scripted model; no API call is made.
  const model = scripted([
    { toolCalls: ['/etc/hosts', 'notes.txt'].map((path) => ({ name: 'remove', arguments: { path } })), usage: { input: 20, output: 9 } },
    { text: 'One of two.', usage: { input: 50, output: 4 } },
  ])
  const agent = new Agent({ model, tools: [remove], toolExecution: { type: 'sequential' }, hooks: house(write) })
  write(await agent.prompt('Remove both.').text())
}
