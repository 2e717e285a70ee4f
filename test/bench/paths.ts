// npm run bench paths: how much code two requests enter once everything is loaded: a prompt with one tool call, and `POST /chat` until its run begins.
// Files and functions of `src` and `adapters`, by folder, from V8's precise coverage: what a reader meets who follows the request.
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { Agent, defineTool, memorySessionStore } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
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

/** Returns the functions of the package that ran until `work` resolved, by file. */
async function functionsOf(work: () => Promise<void>): Promise<Map<string, number>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  const entered = new Map<string, number>()
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue
    const path = relative(root, fileURLToPath(url))
    const count = functions.filter(({ ranges }) => ranges[0] !== undefined && ranges[0].count > 0).length
    if (/^(?:src|adapters)\//.test(path) && count > 0) entered.set(path, count)
  }
  return entered
}

/** A server that can hold its next run at the hook `beforeLoop`. */
function chatServer() {
  let onBegin: (() => Promise<boolean>) | undefined
  const beforeLoop = (): Promise<boolean> | boolean => onBegin?.() ?? true
  const sessions = memoryLiveSessions({
    store: memorySessionStore(),
    agent: () => ({ model: scripted(() => ({ text: 'Hello.' })), hooks: { beforeLoop } }),
  })
  const app = createAgentApp({ sessions, authorize: () => true })
  return {
    async post(id: string): Promise<void> {
      const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }
      const body = JSON.stringify({ id, messages: [message], trigger: 'submit-message' })
      const response = await app.request('/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      await response.text()
    },
    /** Resolves when the next run begins, with a function that lets it go on. */
    nextRun: (): Promise<() => void> =>
      new Promise((begun) => {
        onBegin = () => new Promise((resume) => begun(() => resume(true)))
      }),
  }
}

function report(title: string, entered: Map<string, number>): void {
  const folders = new Map<string, { files: number; functions: number }>()
  for (const [path, functions] of entered) {
    const folder = path
      .split('/')
      .slice(0, /^(?:src\/providers|adapters)\//.test(path) ? 3 : 2)
      .join('/')
    const sum = folders.get(folder) ?? { files: 0, functions: 0 }
    folders.set(folder, { files: sum.files + 1, functions: sum.functions + functions })
  }
  const total = { files: entered.size, functions: [...entered.values()].reduce((sum, count) => sum + count, 0) }
  console.log(title)
  console.table({ ...Object.fromEntries([...folders].toSorted(([, a], [, b]) => b.functions - a.functions)), total })
  if (process.argv.includes('--files')) console.table(Object.fromEntries(entered))
}

await prompt(newAgent())
const agent = newAgent()
report('A prompt with a tool call', await functionsOf(() => prompt(agent)))

const server = chatServer()
await server.post('first')
const run = server.nextRun()
let response: Promise<void> | undefined
const toBegin = async (): Promise<void> => {
  response = server.post('second')
  await run
}
report('POST /chat until its run begins', await functionsOf(toBegin))
const resume = await run
resume()
await response
