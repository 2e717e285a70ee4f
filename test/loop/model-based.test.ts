import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Agent, type AgentEvent, type AgentMessage, type AgentOptions, type Receipt, textOf } from '../../src/index.ts'
import type { InputFilter, LoopHooks } from '../../src/loop.ts'
import { type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'
import { prunTools } from '../../src/tools.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { longHistory } from '../support/long-history.ts'
import { fastRetry, tool } from '../support/play.ts'
import { runs } from '../support/runs.ts'

const toolNames = ['ok', 'throws', 'hangs', 'asks', 'reports', 'missing']
const call = fc.oneof(
  { weight: 6, arbitrary: fc.record({ name: fc.constantFrom(...toolNames), arguments: fc.constant({}) }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('prun'), arguments: fc.record({ tokens: fc.integer({ min: 1, max: 300 }) }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ name: fc.constant('prun_with_memo'), arguments: fc.record({ tokens: fc.constant(5), memo: fc.constant('m') }) }),
  },
)
const step: fc.Arbitrary<ScriptedStep> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ text: fc.string() }) },
  { weight: 5, arbitrary: fc.record({ text: fc.string(), toolCalls: fc.array(call, { minLength: 1, maxLength: 4 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      text: fc.constant('partial'),
      fail: fc.record({
        code: fc.constantFrom('network', 'api', 'rateLimited', 'contextOverflow'),
        message: fc.constant('failed'),
        afterText: fc.boolean(),
        retryAfterMs: fc.constant(0),
      }),
    }),
  },
)
/** Something a person does when the event with this number arrives. */
const act = fc.record({
  at: fc.nat(60),
  what: fc.constantFrom('steer', 'followUp', 'bad steer', 'bad followUp', 'abort', 'approve', 'deny', 'clear'),
})
const strategy = fc.constantFrom({ type: 'parallel' } as const, { type: 'sequential' } as const, { type: 'batched', size: 2 } as const)
const mode = fc.constantFrom('all' as const, 'oneAtATime' as const)

/** How a hook answers: at once or later. What hangs is stopped by an abort at the end of the script. */
const answer = fc.constantFrom('yes', 'later', 'false', 'false later', 'throw', 'reject', 'hang')
type Answer = 'yes' | 'later' | 'false' | 'false later' | 'throw' | 'reject' | 'hang'
const filterAnswer = fc.constantFrom('pass', 'warn', 'words', 'reject', 'throw', 'hang')
const hookNames = [
  'beforeLoop',
  'afterLoop',
  'beforeTurn',
  'afterTurn',
  'onError',
  'beforeToolExecution',
  'afterToolExecution',
  'beforeToolExecutionUpdate',
  'afterToolExecutionUpdate',
  'beforeCompactionStart',
  'afterCompactionEnd',
] as const
/** Which hooks there are, and how they answer the nth time: mostly yes. */
const hookPlans = fc.dictionary(
  fc.constantFrom(...hookNames),
  fc.array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom<Answer>('yes', 'later') }, answer), { minLength: 1, maxLength: 4 }),
  { maxKeys: 4 },
)
const askPlan = fc.constantFrom(undefined, 'ask', 'ask and forget', 'ask twice', 'replace', 'ask and replace')

const next = () => new Promise<void>((resolve) => setImmediate(resolve))
const forever = () => new Promise<never>(() => undefined)

async function answered(how: Answer): Promise<boolean> {
  if (how === 'later' || how === 'false later') await next()
  if (how === 'hang') return forever()
  if (how === 'reject') throw new Error('hook')
  return !how.startsWith('false')
}

function plannedHooks(plans: Record<string, Answer[]>, asking: string | undefined): LoopHooks {
  const hooks: Record<string, (info: unknown) => unknown> = {}
  for (const [name, plan] of Object.entries(plans)) {
    let nth = 0
    hooks[name] = () => {
      const how = plan[nth++ % plan.length] ?? 'yes'
      if (how === 'throw') throw new Error('hook')
      return how === 'yes' ? true : answered(how)
    }
  }
  if (asking === undefined) return hooks
  const beforeToolExecution: LoopHooks['beforeToolExecution'] = async ({ requestApproval, toolName }) => {
    if (asking === 'ask and forget') void requestApproval()
    if (asking === 'ask twice') return (await Promise.all([requestApproval(), requestApproval()])).every(Boolean)
    if (asking === 'ask') return requestApproval()
    if (asking === 'ask and replace') await requestApproval()
    return asking.endsWith('replace') && !toolName.startsWith('prun') ? { arguments: { replaced: true } } : true
  }
  return { ...hooks, beforeToolExecution }
}

const filterOf =
  (how: string): InputFilter =>
  async (said) => {
    if (how === 'throw' && said.includes('bad')) throw new Error('filter')
    if (how === 'hang' && said.includes('bad')) return forever()
    await (said.length % 2 === 0 ? next() : undefined)
    if (how === 'words' && said.includes('bad')) return { type: 'reject', reason: 'bad' }
    if (how === 'reject') return { type: 'reject', reason: 'never' }
    return how === 'warn' ? { type: 'warn', warning: said } : { type: 'pass' }
  }

const tools = [
  tool('ok', () => 'fine'),
  tool('throws', () => Promise.reject(new Error('no'))),
  tool('hangs', () => forever(), { timeoutMs: 1 }),
  tool('asks', () => 'approved', { needsApproval: true }),
  tool('reports', async (_, ctx) => {
    for (const n of [1, 2, 3]) ctx.update({ content: [{ type: 'text', text: `${n}` }] })
    await next()
    ctx.progress('half')
    return 'x'.repeat(400)
  }),
  ...prunTools(),
]

/** Whether calls wait for an approval that can still be given. */
const isPaused = (messages: readonly AgentMessage[]) => messages.some((message) => message.role === 'extension')

const scenario = fc.record({
  steps: fc.array(step, { maxLength: 6 }),
  acts: fc.array(act, { maxLength: 6 }),
  toolExecution: strategy,
  steeringMode: mode,
  followUpMode: mode,
  hooks: hookPlans,
  asking: askPlan,
  person: fc.constantFrom('approves', 'approves', 'denies', 'is away'),
  filters: fc.array(filterAnswer, { maxLength: 2 }),
  isLong: fc.boolean(),
  isStored: fc.boolean(),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

/** Plays a scenario to its end; what still hangs a while after the last event is stopped. */
async function enact(given: Scenario) {
  const { steps, acts, hooks, asking, person, filters, isLong, isStored, ...modes } = given
  const model = scripted(steps)
  const options: AgentOptions = {
    model,
    tools,
    retry: fastRetry,
    approvalTimeoutMs: 1,
    limits: { maxTurns: 12 },
    hooks: plannedHooks(hooks, asking),
    inputFilters: filters.map(filterOf),
    captureTurnRequests: true,
    contextConfig: { maxContextTokens: 1000, systemPromptTokens: 0, compaction: { keepRecentTurns: 3 } },
    ...(isLong && { messages: longHistory(20, 100) }),
    ...(isStored && { journal: { append: () => Promise.resolve() } }),
    ...modes,
  }
  const agent = new Agent(options)
  const before = agent.messages.length
  const idle = [agent.steer('idle steer'), agent.followUp('idle follow-up')]
  const run = agent.prompt('go')
  const events: AgentEvent[] = []
  const receipts: Receipt[] = [...idle]
  const does: Record<string, () => void> = {
    steer: () => void receipts.push(run.steer('steer')),
    followUp: () => void receipts.push(run.followUp('follow-up')),
    'bad steer': () => void receipts.push(run.steer('bad steer')),
    'bad followUp': () => void receipts.push(run.followUp('bad follow-up')),
    abort: () => run.abort(),
    clear: () => agent.clearQueues(),
    approve: () =>
      run
        .pendingApprovals()
        .slice(0, 1)
        .forEach((pending) => void run.approve(pending)),
    deny: () =>
      run
        .pendingApprovals()
        .slice(0, 1)
        .forEach(({ toolCallId }) => void run.deny(toolCallId)),
  }
  run.subscribe((event) => {
    events.push(event)
    if (event.type === 'approvalRequested' && person === 'approves') run.approve(event)
    if (event.type === 'approvalRequested' && person === 'denies') run.deny(event.toolCallId)
    for (const { at, what } of acts) if (at === events.length) does[what]?.()
  })
  let hasSettled = false
  const settled = run.result.finally(() => {
    hasSettled = true
  })
  for (let quiet = 0, count = 0; quiet < 30 && !hasSettled; quiet += 1) {
    await new Promise<void>((resolve) => setTimeout(resolve, 0))
    if (events.length !== count) quiet = 0
    count = events.length
  }
  const hung = !hasSettled
  const wasOver = !agent.isStreaming
  run.abort()
  return { agent, model, events, idle, receipts, result: await settled, before, stopped: hung && !wasOver }
}

describe('random scripts of responses, tools, steering, aborts, filters, hooks and approvals', () => {
  it('emits valid events, one agentEnd and a result per call, and loses no message', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const { agent, model, events, idle, receipts, result, before, stopped } = await enact(given)
        expect(grammarFaults(events)).toEqual([])
        expect(events.filter(({ type }) => type === 'agentEnd')).toHaveLength(1)
        if (stopped) expect(['aborted', 'error']).toContain(result.status)
        if (!isPaused(agent.messages)) expect(unansweredCalls(agent.messages)).toEqual([])
        const ids = agent.messages.map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        expect(ids.slice(before)).toEqual(result.messages.map(({ id }) => id))
        // The prompt comes first; only an abort keeps it out of a run that has begun its first turn.
        const said = agent.messages.slice(before).flatMap((m) => (m.role === 'user' ? [textOf(m.content)] : []))
        const isFirst = said[0]?.startsWith('go') ?? false
        const began = events.some(({ type }) => type === 'turnStart')
        expect(isFirst || (said.length === 0 && (!began || result.status === 'aborted'))).toBe(true)
        // Where nothing was taken back, there is always something to answer.
        const isCleared = given.acts.some(({ what }) => what === 'clear')
        for (const { messages } of isCleared ? [] : model.provider.requests) {
          const last = messages.findLast((m) => m.role !== 'assistant' || (m.stopReason !== 'error' && m.stopReason !== 'aborted'))
          expect(last?.role).not.toBe('assistant')
        }
        for (const { status, message, settled } of receipts) {
          expect(ids.includes(message.id)).toBe(status === 'delivered')
          if (status !== 'queued') expect(await settled).toBe(status)
        }
        if (result.status === 'aborted') {
          const owned = receipts.filter((receipt) => !idle.includes(receipt))
          expect(owned.map(({ status }) => status)).not.toContain('queued')
        }
        if (result.status === 'rejected') expect(result.rejection).toBeTypeOf('string')
        if (result.status === 'completed') expect(receipts.map(({ status }) => status)).not.toContain('queued')
        // Whatever happened, the conversation can go on, and what still waits is said.
        agent.configure({ hooks: {}, inputFilters: [], model: scripted(() => ({ text: 'again' })), limits: false, steeringMode: 'all' })
        const again = await agent.prompt('again').result
        expect(again.status).toBe('completed')
        for (const { status, message } of receipts) {
          expect(status).not.toBe('queued')
          expect(agent.messages.some(({ id }) => id === message.id)).toBe(status === 'delivered')
        }
      }),
      { numRuns: runs(150, 1000) },
    )
  })
})
