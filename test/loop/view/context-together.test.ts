import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deriveView } from '../../../src/context.ts'
import { Agent, type AgentEvent, type AgentOptions, type AgentRun } from '../../../src/index.ts'
import { type ScriptedStep, type ScriptedToolCall, scripted } from '../../../src/providers/scripted/index.ts'
import type { StreamRequest } from '../../../src/providers.ts'
import { parseSnapshot } from '../../../src/session.ts'
import { prunTools, revertTool } from '../../../src/tools.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { brokenPairs } from '../../support/long-history.ts'
import { tool } from '../../support/play.ts'
import { runs } from '../../support/runs.ts'

const call = (name: string, args: ScriptedToolCall['arguments'] = {}): ScriptedToolCall => ({ name, arguments: args })
const share = fc.nat(100)
const tokens = fc.integer({ min: 1, max: 2000 })
const work = fc.record({ size: fc.integer({ min: 1, max: 400 }), steps: fc.nat(6) }).map((args) => call('work', args))

/** A step of the model; `ids` are the node ids it can read. */
type Move = (ids: readonly string[]) => ScriptedStep

const stepBack = (at: number, ids: readonly string[]) =>
  call('revert_to_state', { category: 'failure', step: ids[at % Math.max(1, ids.length)] ?? 'n0', summary: 'learnt' })

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(work, { minLength: 1, maxLength: 3 }).map(
      (calls): Move =>
        () => ({ text: 'x', toolCalls: calls }),
    ),
  },
  {
    weight: 2,
    arbitrary: tokens.map(
      (tokens): Move =>
        () => ({ toolCalls: [call('prun', { tokens })] }),
    ),
  },
  {
    weight: 1,
    arbitrary: tokens.map(
      (tokens): Move =>
        () => ({ toolCalls: [call('prun_with_memo', { tokens, memo: 'what it was' })] }),
    ),
  },
  {
    weight: 2,
    arbitrary: share.map(
      (at): Move =>
        (ids) => ({ toolCalls: [stepBack(at, ids)] }),
    ),
  },
  {
    weight: 1,
    arbitrary: share.map(
      (at): Move =>
        (ids) => ({ toolCalls: [call('prun', { tokens: at + 1 }), stepBack(at, ids), call('work')] }),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Move>(() => ({ text: 'done' })) },
  { weight: 1, arbitrary: fc.constant<Move>(() => ({ fail: { code: 'contextOverflow', message: 'prompt is too long' } })) },
  { weight: 1, arbitrary: fc.constant<Move>(() => ({ toolCalls: [call('ask'), call('work')] })) },
)

const tools = [
  // Results come in another order than calls.
  tool('work', async ({ size = 5, steps = 0 }) => {
    for (let step = 0; step < Number(steps); step += 1) await undefined
    return 'w '.repeat(Number(size))
  }),
  tool('ask', () => 'asked', { needsApproval: true }),
  ...prunTools(),
  revertTool(),
]

/** Runs to the end, approving what is asked; what was wrong with the order of events. */
async function ended(run: AgentRun, approves: boolean): Promise<{ status: string; faults: string[] }> {
  const events: AgentEvent[] = []
  run.subscribe((event) => {
    events.push(event)
    if (approves && event.type === 'approvalRequested') run.approve(event)
  })
  const { status } = await run.result
  return { status, faults: grammarFaults(events) }
}

/** Four prompts, answered with `moves`; paused runs are continued, and each prompt may be in another process. */
async function conversation(moves: readonly Move[], { compacts, moves: movesOn }: { compacts: boolean; moves: boolean }) {
  const requests: StreamRequest[] = []
  const left = [...moves]
  const model = scripted((request) => {
    requests.push(request)
    const ids = [...JSON.stringify(request.messages).matchAll(/"\[(n\d+)\]"/g)].map(([, id]) => id ?? '')
    return left.shift()?.(ids) ?? { text: 'done' }
  })
  const options: AgentOptions = {
    model,
    tools,
    approvalTimeoutMs: 1,
    contextConfig: compacts ? { maxContextTokens: 700, systemPromptTokens: 0 } : {},
    limits: { maxTurns: 12 },
  }
  let agent = new Agent(options)
  const faults: string[] = []
  for (let prompt = 0; prompt < 4; prompt += 1) {
    const first = await ended(agent.send(`prompt ${prompt} ${'word '.repeat(60)}`), false)
    faults.push(...first.faults)
    if (compacts && prompt === 1) faults.push(...(await ended(agent.compact(), false)).faults)
    if (movesOn) {
      const snapshot = parseSnapshot(JSON.stringify(agent.checkpoint()))
      agent = new Agent(options)
      agent.restore(snapshot)
    }
    if (first.status === 'paused') faults.push(...(await ended(agent.continueLoop(), true)).faults)
  }
  return { agent, requests, faults }
}

describe('prune, revert, compaction, overflow and pause in any order', () => {
  it.each([
    { compacts: false, moves: false },
    { compacts: true, moves: false },
    { compacts: false, moves: true },
    { compacts: true, moves: true },
  ])('sends only complete requests with consistent history and events: %j', async (options) => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 3, maxLength: 25 }), async (moves) => {
        const { agent, requests, faults } = await conversation(moves, options)
        expect(faults).toEqual([])
        for (const { messages } of requests) {
          expect(messages.length).toBeGreaterThan(0)
          expect(messages.at(-1)?.role).not.toBe('assistant')
          expect(brokenPairs(messages)).toEqual([])
        }
        const { state } = agent.checkpoint()
        if (state.overlay !== undefined) return
        // Without a compaction, what the user said is always sent.
        const sent = new Set(deriveView(agent.messages, state).map(({ id }) => id))
        expect(agent.messages.filter(({ role, id }) => role === 'user' && !sent.has(id))).toEqual([])
      }),
      { numRuns: runs(30, 1000) },
    )
  })
})
