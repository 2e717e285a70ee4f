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

/** Branches to run concurrently, and how to select one outcome. */
export interface ParallelOptions {
  /** Prompt sent to every branch. Without a prompt, every branch continues the history as `continueLoop` does. */
  prompt?: PromptInput
  /**
   * Context from which all branches start. The parallel loop sets missing ids and loop counts on this object, but never changes its
   * messages.
   */
  context: AgentContext
  /** One branch runs per configuration. A configuration's limits apply to its branch. */
  configs: readonly LoopConfig[]
  strategy: EvaluationStrategy
  /** Receives interleaved events from all branches, synchronously. The parallel loop logs and ignores errors and rejections. */
  emit: (event: AgentEvent) => void
  /** Stops all branches and the evaluation when it aborts. The caller owns the signal. */
  signal: AbortSignal
  /** Total limits for all branches and the evaluation, in addition to each configuration's limits. Default: none. */
  limits?: Partial<SharedLimits>
  /** Parent run's budget, such as a tool's `ctx.budget`. Shared by all branches and the evaluation. */
  budget?: Budget
  /** The `runId` in `parallelLoopStart` and `parallelLoopEnd`. Default: a new id. */
  runId?: string
  /** Any JSON, passed through to the `agentStart` of every branch. */
  metadata?: JsonValue
  /** The run context of every branch, for its tools and hooks. Default: none. */
  runContext?: unknown
}

/** Result of a parallel loop: the selected branch and all others. Source: docs/concepts/several-agents.md */
export interface ParallelResult {
  /** Context for the next loop: pass it to `agentLoop` or `continueLoop`. */
  selectedContext: AgentContext
  /** Messages that the selected branch added. */
  selectedMessages: AgentMessage[]
  /** Index of the selected configuration. */
  selectedIndex: number
  selectedLoopId: string
  /** The other branches, in the order of their configurations. */
  outcomes: ParallelOutcome[]
  /** Token usage of the evaluation. Zero without a judge. */
  evaluationUsage: Usage
  /** The strategy's reason, if it returned one. */
  reason?: string
  /** Usage of all branches and the evaluation. */
  totalUsage: Usage
  /** Result of the selected branch. */
  result: RunResult
}

/**
 * Runs the same prompt with several configurations concurrently and selects one outcome.
 *
 * **Contract**
 * - Each branch has a separate message list, loop id, `runId` and `seq`. All branches share the parent loop and session.
 *   `parallelLoopStart`, `parallelLoopEnd` and a strategy's status lines have a separate `runId` and the loop id `{session}.parallel.{N}`.
 *   Distinguish branches by `loopId`.
 * - Loop ids are counted in `context`, so parallel loops that start from the same context never share ids. Continue with only one of the
 *   result's contexts.
 * - Emits `parallelLoopStart` first and `parallelLoopEnd` last. Every started branch ends in between. An abort ends all branches and the
 *   evaluation. The first completed branch is then selected, or the first branch if none completed.
 * - Uses the observers of the first configuration that sets any for the parallel loop, every branch and the strategy's model calls.
 * - Rejects only with `ConfigError`, before the first event: `branchCount` for a number of configurations that the strategy does not
 *   support, otherwise as `agentLoop` or `continueLoop`.
 *
 * Source: docs/concepts/several-agents.md
 *
 * @example
 * const { selectedContext, result } = await parallelLoop({ prompt, context, configs: [fast, deep], strategy: llmJudge({ config: deep }),
 * emit, signal })
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
  const { strategy, emit, signal, metadata, runContext } = options
  const budget = sharedBudget(options)
  const configs = options.configs.map((config) => watchedBy(config, events))
  const branches = configs.map((config, index) => new Branch(index, base, config, signal))
  const shared = { emit, budget, ...(metadata !== undefined && { metadata }), ...(runContext !== undefined && { context: runContext }) }
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
    // Copy the final loop counts to every context, so that a continuation never reuses a loop id.
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

/** Returns `config` with the watches of the parallel loop. */
function watchedBy(config: LoopConfig, { watches }: ParallelEvents): LoopConfig {
  return watches === undefined ? config : { ...config, observers: watches.inner() }
}

/**
 * Records the selected branch in the first journal among the configurations. Only logs a rejection, because the branches are already
 * durable.
 */
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
  // `toMessages` validates the prompt.
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
  runContext: anything,
})

/** Throws `ConfigError` for invalid options. Returns the prompt as history entries; empty for a continuation. */
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

/** Creates the shared budget. Missing limits do not apply. */
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
  if (selected === undefined) throw new RangeError(`The parallel loop has no branch ${selectedIndex}.`)
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
