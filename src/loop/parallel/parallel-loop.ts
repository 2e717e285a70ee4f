import { aBudget } from '../../base/argument-checks.ts'
import { ExecutionBudget } from '../../context/execution-budget.ts'
import { ConfigError, errorText } from '../../contract/errors.ts'
import type { JsonValue } from '../../contract/json.ts'
import { newId } from '../../contract/message/identity.ts'
import { type AgentMessage, now, type PromptInput } from '../../contract/message/message.ts'
import { combineUsage, type Usage } from '../../contract/model/usage.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { SharedLimits } from '../../contract/run/settings.ts'
import type { ParallelGroupRecord } from '../../contract/session/session.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import {
  aFunction,
  anObject,
  anything,
  aSignal,
  aText,
  json,
  listOf,
  options as optionsOf,
  required,
  withMethods,
} from '../../contract/shape/shape.ts'
import type { Budget } from '../../types/run/budget.ts'
import type { RunResult } from '../../types/run/run.ts'
import { continuationOf } from '../agent-loop.ts'
import { checkConfig, checkContext, sharedLimits } from '../check-config.ts'
import { toMessages } from '../intake.ts'
import type { AgentContext, LoopConfig } from '../loop-config.ts'
import { nextLoopId } from '../loop-id.ts'
import { Watches } from '../watches.ts'
import { Branch, type IdentifiedContext } from './branch.ts'
import { Inquiry } from './inquiry.ts'
import { ParallelEvents } from './parallel-events.ts'
import { Selection } from './selection.ts'
import type { EvaluationStrategy, ParallelOutcome } from './strategies.ts'

/** What is tried in parallel, and how one of the outcomes is chosen. */
export interface ParallelOptions {
  /** What every branch is asked. Without it, every branch continues the history, as `continueLoop` does. */
  prompt?: PromptInput
  /** Where all branches begin. Missing ids and the loops counted are written back; the messages stay as they are. */
  context: AgentContext
  /** One branch for each. The limits of a configuration hold for its own branch. */
  configs: readonly LoopConfig[]
  strategy: EvaluationStrategy
  /** Receives the events of all branches, interleaved, synchronously. What it throws, or rejects with, is logged and ignored. */
  emit: (event: AgentEvent) => void
  /** Owned by the caller; stops all branches and the evaluation. */
  signal: AbortSignal
  /** Of all branches and the evaluation together, beside those of each configuration. Default: none. */
  limits?: Partial<SharedLimits>
  /** Of the run that this is part of: a tool passes on `ctx.budget`. Shared by all branches and the evaluation. */
  budget?: Budget
  /** `runId` of `parallelLoopStart` and `parallelLoopEnd`. Default: a new id. */
  runId?: string
  /** Passed through to the `agentStart` of every branch. */
  metadata?: JsonValue
}

/** The branch that was chosen, and the others. Source: docs/concepts/several-agents.md */
export interface ParallelResult {
  /** The conversation to go on with: `agentLoop` and `continueLoop` take it as it is. */
  selectedContext: AgentContext
  /** What the chosen branch added. */
  selectedMessages: AgentMessage[]
  /** Position of its configuration. */
  selectedIndex: number
  selectedLoopId: string
  /** The other branches, in the order of their configurations. */
  outcomes: ParallelOutcome[]
  /** Tokens spent on the choice; zero without a judge. */
  evaluationUsage: Usage
  /** Why it was chosen, where the strategy says so. */
  reason?: string
  /** All branches and the evaluation. */
  totalUsage: Usage
  /** Of the chosen branch. */
  result: RunResult
}

/**
 * Runs the same prompt with several configurations at the same time and chooses one outcome.
 *
 * **Contract**
 * - Each branch has its own copy of the list of messages, its own loop id, `runId` and `seq`, and the loop before as its parent; the session
 *   is the same. `parallelLoopStart`, `parallelLoopEnd` and the status lines of a strategy have the `runId` and a loop id
 *   `{session}.parallel.{N}` of the whole. Tell branches apart by `loopId`.
 * - Loop ids are counted on `context`: no two parallel loops that begin there use the same. Go on with one context of the result only.
 * - `parallelLoopStart` comes first and `parallelLoopEnd` last; in between every branch that began ends. An abort ends all of them and the
 *   evaluation; then the first branch that completed is chosen, else the first.
 * - The observers of the first configuration that has any watch the whole, and from within it every branch and what the strategy asks.
 * - Rejects only with `ConfigError`, before the first event: `branchCount` for no configuration, or a number the strategy cannot take;
 *   otherwise what `agentLoop` or `continueLoop` reject with.
 *
 * Source: docs/concepts/several-agents.md
 *
 * @example
 * const { selectedContext, result } = await parallelLoop({ prompt, context, configs: [fast, deep], strategy: llmJudge({ config: deep }), emit, signal })
 */
export async function parallelLoop(options: ParallelOptions): Promise<ParallelResult> {
  const { prompt, first } = checkParallel(options)
  const base = identify(options.context)
  const events = makeEvents(options, base, first)
  const { watches } = events
  const work = () => runBranches(options, { prompt, base, events })
  return watches === undefined ? work() : watches.around({ type: 'loop' }, work)
}

async function runBranches(
  options: ParallelOptions,
  { prompt, base, events }: { prompt: AgentMessage[]; base: IdentifiedContext; events: ParallelEvents },
): Promise<ParallelResult> {
  const { strategy, emit, signal, metadata } = options
  const budget = sharedBudget(options)
  const configs = options.configs.map((config) => watchedBy(config, events))
  const branches = configs.map((config, index) => new Branch(index, base, config, signal))
  const shared = { emit, budget, ...(metadata !== undefined && { metadata }) }
  const selection = new Selection(strategy, branches, events)
  try {
    events.emit({ type: 'parallelLoopStart', loopIds: branches.map((branch) => branch.loopId) })
    const outcomes = await Promise.all(
      branches.map(async (branch) => {
        const outcome = await branch.run(prompt, shared)
        selection.settle(outcome)
        return outcome
      }),
    )
    const inquiry = new Inquiry(base, events, { signal, budget })
    const { selectedIndex, usage, reason } = await selection.decide(prompt, outcomes, inquiry)
    // Every loop of this session is counted wherever the conversation goes on.
    for (const outcome of outcomes) outcome.context.loopCounts = { ...base.loopCounts }
    const words = reason === undefined ? {} : { reason }
    const result = { ...resultOf(outcomes, selectedIndex, usage), ...words }
    const { selectedLoopId, evaluationUsage } = result
    const choice = { selectedLoopId, selectedConfigIndex: selectedIndex, evaluationUsage, ...words }
    await recordGroup({ allLoopIds: branches.map(({ loopId }) => loopId), ...choice }, { base, events, configs })
    events.end({ type: 'parallelLoopEnd', ...choice })
    return result
  } finally {
    for (const branch of branches) branch.release()
  }
}

/** `config`, watched by whoever watches the whole. */
function watchedBy(config: LoopConfig, { watches }: ParallelEvents): LoopConfig {
  return watches === undefined ? config : { ...config, observers: watches.inner() }
}

/** Tells the journal of the first configuration that has one which branch was chosen. What it refuses is logged: the branches themselves are durable. */
async function recordGroup(
  group: Omit<ParallelGroupRecord, 'isSelected'>,
  { base, events, configs }: { base: IdentifiedContext; events: ParallelEvents; configs: readonly LoopConfig[] },
): Promise<void> {
  const journal = configs.find((config) => config.journal !== undefined)?.journal
  const { agentId, sessionId } = base
  const record = { entry: { type: 'parallelGroup' as const, group }, agentId, sessionId, ...events.ids, turnIndex: 0, at: now() }
  try {
    await journal?.append(record, base)
  } catch (error) {
    events.warn('parallelGroupNotRecorded', errorText(error))
  }
}

const parallelOptions = optionsOf<ParallelOptions>({
  // Checked by `toMessages`.
  prompt: anything,
  context: required(anObject),
  configs: required(listOf(anObject)),
  strategy: required(withMethods('an evaluation strategy', 'evaluate')),
  emit: required(aFunction),
  signal: required(aSignal),
  limits: sharedLimits,
  budget: aBudget,
  runId: aText,
  metadata: json,
})

/** Throws `ConfigError` for what cannot work; returns the prompt as history entries, none in order to continue. */
function checkParallel(given: ParallelOptions): { prompt: AgentMessage[]; first: LoopConfig } {
  checkOptions(given, parallelOptions)
  const { prompt, context, configs, strategy } = given
  const [first] = configs
  if (first === undefined) throw new ConfigError('branchCount', 'configs is empty: a parallel loop needs at least one configuration.')
  strategy.check?.(configs.length)
  checkContext(context)
  for (const [at, config] of configs.entries()) checkConfig(config, `configs[${at}]`)
  if (prompt !== undefined) return { prompt: toMessages(prompt), first }
  continuationOf(context)
  return { prompt: [], first }
}

/** What all loops draw on. Limits that are not given are none. */
function sharedBudget({ limits, budget }: ParallelOptions): Budget {
  return new ExecutionBudget({ maxTurns: Infinity, maxTotalTokens: Infinity, maxDurationMs: Infinity, ...limits }, budget)
}

function identify(context: AgentContext): IdentifiedContext {
  const agentId = context.agentId ?? newId()
  const sessionId = context.sessionId ?? newId()
  return Object.assign(context, { agentId, sessionId })
}

function makeEvents(options: ParallelOptions, base: IdentifiedContext, first: LoopConfig): ParallelEvents {
  const { configs, emit, runId = newId() } = options
  const { sessionId } = base
  const loopId = nextLoopId(base, sessionId, { ...first, configId: 'parallel' })
  const logger = configs.find((config) => config.logger !== undefined)?.logger
  const events = new ParallelEvents({ runId, sessionId, loopId }, { sink: emit, logger })
  const observers = configs.find((config) => config.observers !== undefined)?.observers
  const whole = () => ({ runId, sessionId, loopId, agentId: base.agentId })
  events.watches = Watches.begin(observers, whole, (message) => events.warn('watchFailed', message))
  return events
}

function resultOf(outcomes: readonly ParallelOutcome[], selectedIndex: number, evaluationUsage: Usage): ParallelResult {
  const selected = outcomes[selectedIndex]
  if (selected === undefined) throw new RangeError(`there is no branch ${selectedIndex}`)
  const { context, loopId, result } = selected
  return {
    selectedContext: context,
    selectedMessages: result.messages,
    selectedIndex,
    selectedLoopId: loopId,
    outcomes: outcomes.filter((outcome) => outcome !== selected),
    evaluationUsage,
    totalUsage: outcomes.reduce((sum, outcome) => combineUsage(sum, outcome.result.totalUsage), evaluationUsage),
    result,
  }
}
