import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Agent, type AgentEvent, type AgentMessage, type Receipt } from '../../src/index.ts'
import { type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { fastRetry, tool } from '../support/play.ts'

const toolNames = ['ok', 'throws', 'hangs', 'asks', 'missing']
const call = fc.record({ name: fc.constantFrom(...toolNames), arguments: fc.constant({}) })
const step: fc.Arbitrary<ScriptedStep> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ text: fc.string() }) },
  { weight: 4, arbitrary: fc.record({ text: fc.string(), toolCalls: fc.array(call, { minLength: 1, maxLength: 4 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      text: fc.constant('partial'),
      fail: fc.record({
        code: fc.constantFrom('network', 'api', 'rateLimited'),
        message: fc.constant('failed'),
        afterText: fc.boolean(),
        retryAfterMs: fc.constant(0),
      }),
    }),
  },
)
/** Something a person does when the event with this number arrives. */
const act = fc.record({ at: fc.nat(60), what: fc.constantFrom('steer', 'followUp', 'abort', 'approve', 'deny') })
const strategy = fc.constantFrom({ type: 'parallel' } as const, { type: 'sequential' } as const, { type: 'batched', size: 2 } as const)

const tools = [
  tool('ok', () => 'fine'),
  tool('throws', () => Promise.reject(new Error('no'))),
  tool('hangs', () => new Promise<string>(() => undefined), { timeoutMs: 1 }),
  tool('asks', () => 'approved', { needsApproval: true }),
]

/** Whether calls wait for an approval that can still be given. */
const isPaused = (messages: readonly AgentMessage[]) => messages.some((message) => message.role === 'extension')

describe('any script of answers, tools, steers and aborts', () => {
  it('keeps the grammar, ends once, answers every call and loses no message', async () => {
    const scenario = fc.record({ steps: fc.array(step, { maxLength: 6 }), acts: fc.array(act, { maxLength: 6 }), toolExecution: strategy })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ steps, acts, toolExecution }) => {
        const agent = new Agent({ model: scripted(steps), tools, toolExecution, retry: fastRetry, approvalTimeoutMs: 1 })
        const run = agent.prompt('go')
        const events: AgentEvent[] = []
        const receipts: Receipt[] = []
        run.subscribe((event) => {
          events.push(event)
          for (const { at, what } of acts) {
            if (at !== events.length) continue
            if (what === 'steer') receipts.push(run.steer('steer'))
            if (what === 'followUp') receipts.push(run.followUp('follow-up'))
            if (what === 'abort') run.abort()
            const [pending] = run.pendingApprovals()
            if (what === 'approve' && pending) run.approve(pending.toolCallId)
            if (what === 'deny' && pending) run.deny(pending.toolCallId)
          }
        })
        const result = await run.result
        expect(grammarFaults(events)).toEqual([])
        if (!isPaused(agent.messages)) expect(unansweredCalls(agent.messages)).toEqual([])
        for (const receipt of receipts) {
          const isInHistory = agent.messages.some((message) => message.id === receipt.message.id)
          expect(isInHistory).toBe(receipt.status === 'delivered')
        }
        expect(agent.messages.map((message) => message.id)).toEqual(result.messages.map((message) => message.id))
      }),
      { numRuns: 400 },
    )
  })
})
