import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SubAgentTool } from '../../../src/agents.ts'
import { Agent, type AgentEvent, type AgentOptions, type AgentRun, type AgentTool, type JsonObject } from '../../../src/index.ts'
import type { ApprovalRequestedEvent, LoopHooks } from '../../../src/loop.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import type { ApprovalRule } from '../../../src/types/run/question.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { fastRetry, tool } from '../../support/play.ts'
import { runs } from '../../support/runs.ts'

const numRuns = runs(150, 20_000)
const names = ['plain', 'flag', 'rule', 'odd', 'async'] as const

const args: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ n: fc.integer({ min: 0, max: 2 }) }),
  fc.constantFrom<JsonObject>({}, { __proto__: 1 }, { n: '1' }, { n: [1] }, { n: { n: 1 } }, JSON.parse('{"__proto__":{"n":1}}')),
)
/** Services repeat ids: across turns, within an answer, and between a run and its sub-agents. */
const call = fc.record({ id: fc.constantFrom('c1', 'c2', 'c3'), name: fc.constantFrom(...names), arguments: args })
const distinct = (calls: { id: string }[]) => calls.filter(({ id }, at) => calls.findIndex((other) => other.id === id) === at)
const step = (extra: fc.Arbitrary<{ id: string; name: string; arguments: JsonObject }>): fc.Arbitrary<ScriptedStep> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.array(extra, { minLength: 1, maxLength: 3 }).map((calls) => ({ toolCalls: distinct(calls) as never })) },
    { weight: 1, arbitrary: fc.constant({ text: 'done' }) },
  )
const delegation = fc.record({ id: fc.constantFrom('c1', 'c2', 'c3'), name: fc.constant('helper'), arguments: fc.constant({ task: 'go' }) })

const scenario = fc.record({
  steps: fc.array(step(fc.oneof({ weight: 3, arbitrary: call }, { weight: 1, arbitrary: delegation })), { maxLength: 5 }),
  childSteps: fc.array(step(call), { maxLength: 3 }),
  toolExecution: fc.constantFrom({ type: 'parallel' } as const, { type: 'sequential' } as const, { type: 'batched', size: 2 } as const),
  odd: fc.constantFrom<unknown>('yes', 1, {}, null, 0, ''),
  ruleAsks: fc.constantFrom('always', 'n is not 0', 'throws', 'undefined'),
  hook: fc.constantFrom(undefined, 'ask', 'ask and forget', 'replace', 'ask and replace', 'asks twice', 'mutates', 'no'),
  childRules: fc.boolean(),
  /** What happens when the event of this number arrives. */
  acts: fc.array(
    fc.record({
      at: fc.nat(60),
      what: fc.constantFrom(
        'steer',
        'abort',
        'approve newest',
        'approve all',
        'approve by id',
        'deny newest',
        'approve old',
        'forge',
        'mutate',
      ),
    }),
    { maxLength: 14 },
  ),
  person: fc.constantFrom('away', 'approves', 'approves', 'denies', 'approves every other'),
  timeoutMs: fc.constantFrom(1, 3, 20),
  callTimeoutMs: fc.constantFrom(undefined, 1, 10),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

function rules({ odd, ruleAsks }: Scenario): Record<(typeof names)[number], ApprovalRule> {
  const rule = (given: JsonObject): boolean => {
    const { n } = given
    given.n = 0
    if (ruleAsks === 'throws') throw new Error('rule')
    if (ruleAsks === 'undefined') return undefined as never
    return ruleAsks === 'always' || n !== 0
  }
  return { plain: false, flag: true, rule, odd: odd as never, async: (given) => Promise.resolve().then(() => rule(given)) }
}

/** Whether a call with these arguments must not run without a yes, as a reader of the documentation would say. */
function needsYes({ ruleAsks, hook }: Scenario, name: string, given: JsonObject): boolean {
  if (hook?.startsWith('ask')) return true
  if (name === 'plain') return false
  if (name === 'flag' || name === 'odd') return true
  return ruleAsks !== 'n is not 0' || given.n !== 0
}

function hooksOf({ hook }: Scenario): LoopHooks {
  if (hook === undefined) return {}
  return {
    beforeToolExecution: async ({ toolName, args: shown, requestApproval }) => {
      if (toolName === 'helper') return true
      if (hook === 'mutates') Object.assign(shown, { n: 0 })
      if (hook === 'no') return false
      if (hook === 'ask and forget') void requestApproval()
      if (hook === 'ask' || hook === 'ask and replace') await requestApproval()
      if (hook === 'asks twice') await Promise.all([requestApproval(), requestApproval()])
      return hook.endsWith('replace') ? { arguments: { ...shown, n: 2 } } : true
    },
  }
}

/** What was approved: for each loop and call, the JSON of the arguments that a person saw when the yes was accepted. */
class Yeses {
  readonly #open: string[] = []

  static key(loopId: string, toolCallId: string, given: JsonObject): string {
    return `${loopId} ${toolCallId} ${JSON.stringify(given)}`
  }

  note(event: ApprovalRequestedEvent, shown: JsonObject): void {
    this.#open.push(Yeses.key(event.subAgent?.loopId ?? event.loopId, event.toolCallId, shown))
  }

  /** Whether there was one for this run of a tool; each is good for one. */
  use(key: string): boolean {
    const at = this.#open.indexOf(key)
    if (at === -1) return false
    this.#open.splice(at, 1)
    return true
  }
}

async function enact(given: Scenario) {
  const yeses = new Yeses()
  const unasked: string[] = []
  const all = rules(given)
  const tools = (ruled: boolean): AgentTool[] =>
    names.map((name) =>
      tool(
        name,
        async (got, ctx) => {
          const key = Yeses.key(ctx.loopId, ctx.toolCallId, got)
          const wasApproved = yeses.use(key)
          if (!wasApproved && needsYes(given, name, got)) unasked.push(`${name} ${key}`)
          await new Promise((resolve) => setImmediate(resolve))
          return 'ok'
        },
        ruled ? { needsApproval: all[name] } : {},
      ),
    )
  const helper = new SubAgentTool({
    name: 'helper',
    description: 'Helps.',
    model: scripted(given.childSteps),
    tools: tools(given.childRules),
    toolExecution: given.toolExecution,
    forward: 'events',
    ...(given.callTimeoutMs !== undefined && { timeoutMs: given.callTimeoutMs }),
  })
  const options: AgentOptions = {
    model: scripted(given.steps),
    tools: [...tools(true), helper],
    toolExecution: given.toolExecution,
    approvalTimeoutMs: given.timeoutMs,
    hooks: hooksOf(given),
    retry: fastRetry,
    limits: { maxTurns: 6 },
  }
  const agent = new Agent(options)
  const old: ApprovalRequestedEvent[] = []
  for (let round = 0; round < 3; round += 1) {
    const run: AgentRun = round === 0 ? agent.prompt('go') : agent.continueLoop()
    const events: AgentEvent[] = []
    const waiting = new Map<ApprovalRequestedEvent, JsonObject>()
    /** As a user interface: with what the person was shown. */
    const approve = (event: ApprovalRequestedEvent, ref: Parameters<AgentRun['approve']>[0] = event) => {
      const shown = waiting.get(event)
      try {
        // Before: a call may run as soon as it is approved.
        if (shown !== undefined) yeses.note(event, shown)
        run.approve(ref)
        if (shown === undefined) unasked.push('approved a request that no longer waits')
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'ConfigError') throw error
        if (shown !== undefined) yeses.use(Yeses.key(event.subAgent?.loopId ?? event.loopId, event.toolCallId, shown))
      }
    }
    const does: Record<string, () => void> = {
      steer: () => void run.steer('hurry'),
      abort: () => run.abort(),
      'approve newest': () => [...waiting.keys()].slice(-1).forEach((event) => void approve(event)),
      'approve all': () => [...waiting.keys()].forEach((event) => void approve(event)),
      'approve by id': () => {
        try {
          Reflect.apply(run.approve, run, ['c1'])
          unasked.push('approved by its id')
        } catch {}
      },
      'deny newest': () => {
        const [event] = [...waiting.keys()].slice(-1)
        if (event !== undefined) run.deny(event)
      },
      // With the event: a request that was answered, withdrawn, or of another turn or run, is nothing that can be approved.
      'approve old': () => {
        for (const event of old) if (!waiting.has(event)) approve(event)
      },
      forge: () => {
        for (const [event] of waiting) {
          try {
            run.approve({ toolCallId: event.toolCallId, argumentsHash: `${event.argumentsHash}0` })
            unasked.push('approved with another hash')
          } catch {}
        }
      },
      mutate: () => {
        for (const [event] of waiting) Object.assign(event.args, { n: 0 })
        for (const pending of run.pendingApprovals()) Object.assign(pending.args, { n: 0 })
      },
    }
    let asked = 0
    run.subscribe((event) => {
      events.push(event)
      if (event.type === 'approvalRequested') {
        waiting.set(event, structuredClone(event.args))
        old.push(event)
        asked += 1
        if (given.person === 'approves' || (given.person === 'approves every other' && asked % 2 === 0)) approve(event)
        if (given.person === 'denies') run.deny(event)
      }
      if (event.type === 'approvalResolved') {
        for (const [open] of waiting) {
          if (open.toolCallId === event.toolCallId && open.subAgent?.loopId === event.subAgent?.loopId) {
            waiting.delete(open)
            break
          }
        }
      }
      for (const { at, what } of given.acts) if (at === events.length) does[what]?.()
    })
    const result = await run.result
    expect(grammarFaults(events)).toEqual([])
    expect(run.pendingApprovals()).toEqual([])
    if (result.status !== 'paused') break
    expect(
      agent
        .pendingApprovals()
        .map(({ toolCallId }) => toolCallId)
        .sort(),
    ).toEqual((result.pendingApprovals ?? []).map(({ toolCallId }) => toolCallId).sort())
  }
  return unasked
}

it('runs a tool only with an approval for its exact arguments', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      expect(await enact(given)).toEqual([])
    }),
    { numRuns },
  )
}, 600_000)
