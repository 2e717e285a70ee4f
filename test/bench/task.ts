import type { Scenario } from './scenarios.ts'

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
  /** Further options of the agent. */
  agentOptions?: object
}

/** Runs an agent to its end. */
export type Side = (task: Task) => Promise<unknown>

/**
 * Runs one agent over the scripted responses and checks that nothing was skipped. `onRequest` is told of each before it is answered;
 * `served` counts them where another server answers.
 */
export async function once(scenario: Scenario, side: Side, onRequest = (): void => {}, served?: () => number): Promise<void> {
  let requests = 0
  let deltas = 0
  let calls = 0
  const fetch = async (_: unknown, init?: RequestInit) => {
    onRequest()
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
  if (served !== undefined) requests = served()
  if (requests !== expected.requests || deltas !== expected.deltas || calls !== expected.calls) {
    throw new Error(`${scenario.id}: ${JSON.stringify({ requests, deltas, calls })} instead of ${JSON.stringify(expected)}`)
  }
}

/** Milliseconds of CPU, of all threads, that `work` takes. */
export async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** The value below which `share` of `list` lies; the median unless told. */
export function quantile(list: readonly number[], share = 0.5): number {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length * share)] ?? 0
}
