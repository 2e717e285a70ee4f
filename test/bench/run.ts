// npm run bench [-- filter]: CPU time of an agent as a ratio to the bare parse of the same bytes, in the same process and run.
import { limit } from './limit.ts'
import { type Scenario, scenarios } from './scenarios.ts'

/** What both sides get: one agent's work. */
export interface Task {
  wire: 'anthropic' | 'openai'
  baseURL: string
  fetch: typeof globalThis.fetch
  apiKey: string
  model: string
  system: string
  prompt: string
  maxTurns: number
  execute: (args: { a: number; b: number }) => Promise<string>
  onText: (delta: string) => void
}

const { run: agent } = (await import('./contender.mjs')) as { run: (task: Task) => Promise<unknown> }
const samples = 15
const warmUpMs = 1000

/** Runs one agent over the scripted responses and checks that nothing was skipped. */
async function once(scenario: Scenario, side: (task: Task) => Promise<unknown>): Promise<void> {
  let requests = 0
  let deltas = 0
  let calls = 0
  const fetch = async (_: unknown, init?: RequestInit) => {
    new TextEncoder().encode(String(init?.body)) // a real fetch has to encode the body
    const chunks = scenario.responses[requests++] ?? []
    let next = 0
    const pull = (controller: ReadableStreamDefaultController) =>
      next < chunks.length ? controller.enqueue(chunks[next++]) : controller.close()
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers: { 'content-type': 'text/event-stream' } })
  }
  await side({
    wire: scenario.wire,
    baseURL: 'http://bench.test',
    fetch: fetch as typeof globalThis.fetch,
    apiKey: 'key',
    model: scenario.wire === 'anthropic' ? 'claude-sonnet-4-6' : 'gpt-4o',
    system: 'You are a careful calculator.',
    prompt: 'Please do the work.',
    maxTurns: scenario.responses.length + 1,
    execute: async ({ a, b }) => {
      calls += 1
      return `The sum is ${a + b}`
    },
    onText: () => {
      deltas += 1
    },
  })
  const { expected } = scenario
  if (requests !== expected.requests || deltas !== expected.deltas || calls !== expected.calls) {
    throw new Error(`${scenario.id}: ${JSON.stringify({ requests, deltas, calls })} instead of ${JSON.stringify(expected)}`)
  }
}

async function cpuMs(scenario: Scenario, side: (task: Task) => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage()
  for (let n = 0; n < scenario.repeat; n += 1) await Promise.all(Array.from({ length: scenario.agents }, () => once(scenario, side)))
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000 / scenario.repeat
}

const median = (list: number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0

async function measure(scenario: Scenario) {
  // Until the code is compiled: by CPU time, so that a busy machine does not shorten it.
  for (let spent = 0; spent < warmUpMs; ) spent += (await cpuMs(scenario, limit)) * scenario.repeat
  for (let spent = 0; spent < warmUpMs; ) spent += (await cpuMs(scenario, agent)) * scenario.repeat
  const ratios: number[] = []
  const own: number[] = []
  let before = await cpuMs(scenario, limit)
  for (let n = 0; n < samples; n += 1) {
    const ms = await cpuMs(scenario, agent)
    const after = await cpuMs(scenario, limit)
    ratios.push(ms / ((before + after) / 2))
    own.push(ms)
    before = after
  }
  const ratio = median(ratios)
  return {
    scenario: scenario.id,
    what: scenario.title,
    ratio: ratio.toFixed(2),
    goal: `≤ ${scenario.goal}`,
    met: ratio <= scenario.goal,
    'CPU ms': median(own).toFixed(1),
  }
}

const rows: Awaited<ReturnType<typeof measure>>[] = []
for (const scenario of scenarios(process.argv[2] ?? '')) rows.push(await measure(scenario))
console.table(rows)
