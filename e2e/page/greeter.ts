import type { AgentTool } from '../../src/index.ts'
import { openai } from '../../test/harness/server/openai.ts'
import { type ModelServer, serveModel } from './model-server.ts'

/** A tool for MCP servers of tests. */
export const greet: AgentTool = {
  name: 'greet',
  label: 'Greet',
  description: 'Greets somebody.',
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  execute: ({ name }) => ({ content: [{ type: 'text', text: `Ahoy, ${String(name)}!` }] }),
}

/** A model that greets Ada with `greet` of the server on this machine that it is offered, and repeats what came of it. */
export function serveGreeter(): Promise<ModelServer> {
  return serveModel(openai, ({ body, toolResults }) => {
    if (toolResults.length > 0) return { text: [`The tool said: ${toolResults.join(' ')}`] }
    const name = /"(at-127-0-0-1-\d+__greet)"/.exec(JSON.stringify(body))?.[1]
    return name === undefined
      ? { text: ['I have no such tool.'] }
      : { text: ['I greet.'], calls: [{ id: 'call_1', name, arguments: { name: 'Ada' } }] }
  })
}
