// npm run bench paths: how much code a prompt with one tool call enters, once the agent is made and everything is loaded. Files and functions of
// `src`, by folder, from V8's precise coverage: what somebody has to read who follows the prompt from `Agent` to `fetch` and back.
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent, defineTool } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { turnsWithTool } from './scenarios.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { responses } = turnsWithTool('anthropic', 1)

let requests = 0
const answerAsScripted = (): Promise<Response> => {
  const chunks = responses[requests++ % responses.length] ?? []
  return Promise.resolve(
    new Response(new Blob(chunks.map((chunk) => new Uint8Array(chunk))), { headers: { 'content-type': 'text/event-stream' } }),
  )
}

function newAgent(): Agent {
  const parameters = {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' }, note: { type: 'string' } },
    required: ['a', 'b', 'note'],
  }
  return new Agent({
    model: anthropic('claude-sonnet-4-6', { apiKey: 'key', fetch: answerAsScripted }),
    systemPrompt: 'You are a careful calculator.',
    tools: [defineTool({ name: 'add', description: 'Add two numbers', parameters, execute: () => 'The sum is 3' })],
  })
}

async function prompt(agent: Agent): Promise<void> {
  const { status } = await agent.prompt('Please do the work.').result
  if (status !== 'completed') throw new Error(`The run ended ${status}.`)
}

/** The functions that ran meanwhile, by file of `src`. */
async function functionsOf(work: () => Promise<void>): Promise<Map<string, number>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const entered = new Map<string, number>()
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue
    const path = relative(root, fileURLToPath(url))
    const count = functions.filter(({ ranges }) => ranges[0] !== undefined && ranges[0].count > 0).length
    if (path.startsWith('src/') && count > 0) entered.set(path, count)
  }
  return entered
}

await prompt(newAgent())
const agent = newAgent()
const entered = await functionsOf(() => prompt(agent))
const folders = new Map<string, { files: number; functions: number }>()
for (const [path, functions] of entered) {
  const folder = path
    .split('/')
    .slice(0, path.startsWith('src/providers/') ? 3 : 2)
    .join('/')
  const sum = folders.get(folder) ?? { files: 0, functions: 0 }
  folders.set(folder, { files: sum.files + 1, functions: sum.functions + functions })
}
const total = { files: entered.size, functions: [...entered.values()].reduce((sum, count) => sum + count, 0) }
console.table({ ...Object.fromEntries([...folders].toSorted(([, a], [, b]) => b.functions - a.functions)), total })
if (process.argv.includes('--files')) console.table(Object.fromEntries(entered))
