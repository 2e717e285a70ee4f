import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { totalTokens } from '../../src/context.ts'
import { withId } from '../../src/contract/message/message.ts'
import type { CompactionEndedEvent } from '../../src/contract/run/event.ts'
import { Agent, type AgentEvent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { StreamProvider } from '../../src/types/model/provider.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { brokenPairs, words } from '../support/long-history.ts'
import { tool } from '../support/play.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

describe('100 agents with 10 tools each at the same time', () => {
  it('returns results in call order and removes all listeners', async () => {
    const agents = 100
    const calls = 10
    const all = agents * calls
    let started = 0
    let listeners = 0
    const waiting: (() => void)[] = []
    const work = tool('work', async ({ n }, { signal }) => {
      const onAbort = () => undefined
      signal.addEventListener('abort', onAbort)
      listeners += 1
      started += 1
      // Nobody answers before everybody was asked; then the last first.
      const turn = new Promise<void>((resolve) => waiting.push(resolve))
      if (started === all) for (const resume of waiting.toReversed()) resume()
      await turn
      signal.removeEventListener('abort', onAbort)
      listeners -= 1
      return `result ${String(n)}`
    })
    const toolCalls = Array.from({ length: calls }, (_, n) => ({ id: `call-${n}`, name: 'work', arguments: { n } }))
    const runs = Array.from({ length: agents }, (_, at) => {
      const agent = new Agent({ model: scripted([{ toolCalls }, { text: `done ${at}` }]), tools: [work] })
      const events: AgentEvent[] = []
      agent.subscribe((event) => events.push(event))
      return { agent, events, run: agent.prompt(`task ${at}`) }
    })
    const results = await Promise.all(runs.map(({ run }) => run.result))
    expect([started, listeners]).toEqual([all, 0])
    expect(results.map(({ text }) => text)).toEqual(runs.map((_, at) => `done ${at}`))
    for (const { agent, events } of runs) {
      expect(grammarFaults(events)).toEqual([])
      expect(unansweredCalls(agent.messages)).toEqual([])
      const said = agent.messages.flatMap((message) => (message.role === 'toolResult' ? message.content : []))
      expect(said).toEqual(toolCalls.map((_, n) => ({ type: 'text', text: `result ${n}` })))
      expect([agent.isStreaming, agent.currentRun, agent.currentToolTimeoutMs]).toEqual([false, undefined, undefined])
    }
  })
})

describe('1,000 turns with compaction', () => {
  const keepFirstTurns = 2
  const keepRecentTurns = 10
  const maxSummaryTokens = 400
  const contextConfig = {
    maxContextTokens: 5000,
    systemPromptTokens: 0,
    compaction: { keepFirstTurns, keepRecentTurns, maxSummaryTokens },
  }
  const trigger = 5000 * 0.85
  const output = words('found', 100)
  const look = tool('look', () => output)

  /** Looks up something each turn; remembers only how much it was sent. */
  function looking(turns: number) {
    const sizes: number[] = []
    const counts: number[] = []
    let broken = 0
    const { config } = scripted([])
    const provider: StreamProvider = {
      api: 'scripted',
      encode: (request) => scripted([]).provider.encode(request),
      stream: (request, emit, signal) => {
        const turn = sizes.push(totalTokens(request.messages.map(withId))) - 1
        counts.push(request.messages.length)
        broken += brokenPairs(request.messages).length
        const calling = { toolCalls: [{ id: `call-${turn}`, name: 'look', arguments: {} }] }
        // One for each answer: it remembers what it was asked.
        const answer = scripted([turn % turns === turns - 1 ? { text: 'done' } : calling])
        return answer.provider.stream(request, emit, signal)
      },
    }
    return { model: { config, provider }, sizes, counts, broken: () => broken }
  }

  it('compacts when due and limits the size of every request', async () => {
    const { model, sizes, counts, broken } = looking(1000)
    const agent = new Agent({ model, tools: [look], contextConfig, limits: false, replayBytes: 100_000 })
    const compactions: CompactionEndedEvent[] = []
    let turn = 0
    const turns: number[] = []
    agent.subscribe((event) => {
      if (event.type === 'turnStart') turn = event.turnIndex
      if (event.type !== 'compactionEnded') return
      compactions.push(event)
      turns.push(turn)
    })
    const result = await agent.prompt('go').result
    expect(result.status).toBe('completed')
    expect(sizes).toHaveLength(1000)
    expect(agent.messages).toHaveLength(2000)
    expect(broken()).toBe(0)
    expect(Math.max(...sizes)).toBeLessThan(trigger)
    // A turn is an answer and a result: whatever was not compacted since, and the sections.
    const perTurn = totalTokens(agent.messages.slice(1, 3))
    const [first = 0, second = 0, ...others] = turns
    const between = second - first
    for (const { estimatedTokensAfter } of compactions) {
      expect(estimatedTokensAfter).toBeLessThanOrEqual((keepFirstTurns + keepRecentTurns) * perTurn + maxSummaryTokens + 50)
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(Math.max(...counts.slice(0, 100)) + 4)
    // As often at the end as at the beginning, give or take the summary lines.
    expect(between).toBeGreaterThan(5)
    for (const [at, compactedAt] of others.entries()) {
      expect(Math.abs(compactedAt - (turns[at + 1] ?? 0) - between)).toBeLessThanOrEqual(3)
    }
    expect(compactions.every((event) => event.estimatedTokensBefore >= trigger)).toBe(true)
  })

  it('stores only the history and one overlay after 100 runs', async () => {
    const { model, sizes } = looking(10)
    const agent = new Agent({ model, tools: [look], contextConfig, replayBytes: 50_000 })
    const ended: WeakRef<object>[] = []
    const oneRun = async () => {
      const run = agent.prompt('on')
      ended.push(new WeakRef(run))
      await run.result
    }
    // What is loaded once is loaded then.
    for (let at = 0; at < 10; at += 1) await oneRun()
    const before = await heapBytes()
    for (let at = 10; at < 100; at += 1) await oneRun()
    expect(sizes).toHaveLength(1000)
    expect(Math.max(...sizes)).toBeLessThan(trigger)
    const historyBytes = checkCheckpoint(agent)
    agent.replaceMessages([])
    // Without the history next to nothing is left: every run with its events is gone.
    expect((await heapBytes()) - before).toBeLessThan(historyBytes / 2)
    expect(ended.filter((run) => run.deref() !== undefined)).toEqual([])
  })
})

/** What is kept beside the history does not grow with it. Returns the size of the history as JSON. */
function checkCheckpoint(agent: Agent): number {
  const { state, messages, ...rest } = agent.checkpoint()
  expect(messages).toHaveLength(2000)
  expect(Object.keys(state)).toEqual(['overlay'])
  expect(JSON.stringify(state).length).toBeLessThan(4 * 6000)
  expect(JSON.stringify(rest).length).toBeLessThan(1000)
  return JSON.stringify(messages).length
}

/** Bytes in use after a collection; a run that has just ended lets go in the next task. */
async function heapBytes(): Promise<number> {
  // What weak tables held goes with the second collection.
  for (let times = 0; times < 2; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, 0))
    collect()
  }
  return process.memoryUsage().heapUsed
}
