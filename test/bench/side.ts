// One side of the comparison in a process of its own, so that neither shapes the code that is compiled for the other.
// argv: scenario, side. Warms up, says `ready`, then answers each message with the figures of one sample.
import { GCProfiler, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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

/** What one sample took, per run. */
export interface Sample {
  cpuMs: number
  garbageMB: number
}

type Side = (task: Task) => Promise<unknown>

const warmUpMs = 1000

setFlagsFromString('--expose-gc')
const collect: (options: { type: 'minor' }) => void = runInNewContext('gc')
const collectYoung = () => collect({ type: 'minor' })

/** Runs one agent over the scripted responses and checks that nothing was skipped. */
async function once(scenario: Scenario, side: Side): Promise<void> {
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

async function cpuMs(scenario: Scenario, side: Side): Promise<number> {
  const start = process.cpuUsage()
  for (let n = 0; n < scenario.repeat; n += 1) await Promise.all(Array.from({ length: scenario.agents }, () => once(scenario, side)))
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000 / scenario.repeat
}

/** Young objects are collected before, so that nothing is charged to the next sample, and after, so that all garbage is counted. */
async function sample(scenario: Scenario, side: Side): Promise<Sample> {
  collectYoung()
  const collector = new GCProfiler()
  collector.start()
  const ms = await cpuMs(scenario, side)
  collectYoung()
  const bytes = collector.stop().statistics.reduce((sum, { beforeGC, afterGC }) => {
    return sum + beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize
  }, 0)
  return { cpuMs: ms, garbageMB: bytes / 2 ** 20 / scenario.repeat }
}

const [scenario] = scenarios(process.argv[2] ?? '')
const side: Side = process.argv[3] === 'limit' ? limit : (await import('./contender.mjs')).run
if (scenario === undefined) throw new Error(`There is no scenario ${process.argv[2]}.`)
// Until the code is compiled: by CPU time, so that a busy machine does not shorten it.
for (let spent = 0; spent < warmUpMs; ) spent += (await cpuMs(scenario, side)) * scenario.repeat
process.on('message', async () => process.send?.(await sample(scenario, side)))
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
