import { aModel } from '../base/argument-checks.ts'
import { AgentBusyError, ConfigError } from '../contract/errors.ts'
import type { PromptInput } from '../contract/message/message.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction, anything, aSignal, either, listOf, options as optionsOf, required, withMethods } from '../contract/shape/shape.ts'
import { sharedLimits } from '../loop/check-config.ts'
import { contextOf, snapshotOfContext } from '../loop/parallel/agent-context.ts'
import { llmJudge } from '../loop/parallel/llm-judge.ts'
import { type ParallelOptions, type ParallelResult, parallelLoop } from '../loop/parallel/parallel-loop.ts'
import type { EvaluationStrategy } from '../loop/parallel/strategies.ts'
import type { Model } from '../types/model/model.ts'
import type { Agent } from './agent.ts'
import { toLoopConfig } from './agent-options.ts'
import { givenSettings } from './agent-settings.ts'

/** Branch models and the judge. */
export interface ParallelModels extends Pick<ParallelOptions, 'limits'> {
  /** One branch per model. */
  models: readonly Model[]
  /** Model that compares the responses and selects the best, or a selection strategy from `phi-core/loop`. */
  judge: Model | EvaluationStrategy
  /** Receives interleaved events from all branches and the judge. Distinguish them by `loopId`. Default: none. */
  onEvent?: (event: AgentEvent) => void
  /** `context` of every branch, for its tools and hooks. Default: the agent's `context`. */
  context?: unknown
  /** Aborts all branches and the judge. The caller owns the signal. */
  signal?: AbortSignal
}

const parallelModels = optionsOf<ParallelModels>({
  models: required(listOf(aModel)),
  judge: required(either(aModel, withMethods('a strategy', 'evaluate'))),
  onEvent: aFunction,
  context: anything,
  signal: aSignal,
  limits: sharedLimits,
})

/**
 * Sends one prompt to several models concurrently, selects the best response and adopts the selected branch's history in `agent`.
 *
 * **Contract**
 * - Each branch uses the settings, tools and history of `agent` with a different model. Every branch executes its tool calls.
 * - `result` is the selected run's result, `reason` the judge's explanation, and `totalUsage` the combined usage of all branches and the
 *   judge.
 * - Branches request no approvals: a branch with a pending call ends `paused`.
 * - Rejects with `AgentBusyError` during a run, or if one starts before this call ends. Rejects with `ConfigError` for an agent with a
 *   session store (use `parallelLoop` with a journal instead), and as `parallelLoop`.
 *
 * Source: docs/concepts/several-agents.md
 *
 * @example
 * ```ts
 * const { result, reason } = await parallel(agent, 'Name this product.', { models: [fast, deep], judge: deep })
 * ```
 */
export async function parallel(agent: Agent, prompt: PromptInput, options: ParallelModels): Promise<ParallelResult> {
  checkOptions(options, parallelModels)
  if (agent.isStreaming) throw new AgentBusyError()
  const settings = givenSettings(agent)
  const { systemPrompt = '', session, tools, skills } = settings
  if (session !== undefined) {
    throw new ConfigError('invalidOption', 'parallel does not record sessions. Use an agent without one, or parallelLoop with a journal.')
  }
  const context = contextOf(agent.checkpoint(), tools, typeof systemPrompt === 'string' ? skills : undefined)
  const {
    context: runContext = settings.context,
    models,
    judge,
    onEvent = () => undefined,
    signal = new AbortController().signal,
    limits,
  } = options
  const own = toLoopConfig(settings)
  const configs = models.map((model, index) => ({ ...own, model, configId: `branch${index}` }))
  const strategy = 'evaluate' in judge ? judge : llmJudge({ config: { model: judge } })
  const done = await parallelLoop({ prompt, context, configs, strategy, emit: onEvent, signal, runContext, ...(limits && { limits }) })
  agent.restore(snapshotOfContext(done.selectedContext))
  return done
}
