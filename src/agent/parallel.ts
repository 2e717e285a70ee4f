import { aModel } from '../base/argument-checks.ts'
import { AgentBusyError, ConfigError } from '../contract/errors.ts'
import type { PromptInput } from '../contract/message/message.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction, aSignal, either, listOf, options as optionsOf, required, withMethods } from '../contract/shape/shape.ts'
import { sharedLimits } from '../loop/check-config.ts'
import { contextOf, snapshotOfContext } from '../loop/parallel/agent-context.ts'
import { llmJudge } from '../loop/parallel/llm-judge.ts'
import { type ParallelOptions, type ParallelResult, parallelLoop } from '../loop/parallel/parallel-loop.ts'
import type { EvaluationStrategy } from '../loop/parallel/strategies.ts'
import type { Model } from '../types/model/model.ts'
import type { Agent } from './agent.ts'
import { toLoopConfig } from './agent-options.ts'
import { givenSettings } from './agent-settings.ts'

/** Models of the branches, and the judge. */
export interface ParallelModels extends Pick<ParallelOptions, 'limits'> {
  /** One branch per model. */
  models: readonly Model[]
  /** A model that reads the responses and selects the best, or a strategy of `phi-core/loop`. */
  judge: Model | EvaluationStrategy
  /** Receives the events of all branches and of the judge, interleaved; `loopId` tells them apart. Default: none. */
  onEvent?: (event: AgentEvent) => void
  /** Owned by the caller; stops all branches and the judge. */
  signal?: AbortSignal
}

const parallelModels = optionsOf<ParallelModels>({
  models: required(listOf(aModel)),
  judge: required(either(aModel, withMethods('a strategy', 'evaluate'))),
  onEvent: aFunction,
  signal: aSignal,
  limits: sharedLimits,
})

/**
 * Sends one prompt to several models concurrently and continues with the best response: `agent` then has the history of the selected
 * branch.
 *
 * **Contract**
 * - Each branch has the settings, tools and history of `agent`, and its own model. Tools of all branches run.
 * - `result` is the selected run, `reason` the reason of the judge, `totalUsage` the usage of all branches and the judge.
 * - Approvals are not requested: a branch with a pending call ends `paused`.
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
    throw new ConfigError('invalidOption', 'parallel does not record sessions. Take an agent without one, or parallelLoop with a journal.')
  }
  const context = contextOf(agent.checkpoint(), tools, typeof systemPrompt === 'string' ? skills : undefined)
  const { models, judge, onEvent = () => undefined, signal = new AbortController().signal, limits } = options
  const own = toLoopConfig(settings)
  const configs = models.map((model, index) => ({ ...own, model, configId: `branch${index}` }))
  const strategy = 'evaluate' in judge ? judge : llmJudge({ config: { model: judge } })
  const done = await parallelLoop({ prompt, context, configs, strategy, emit: onEvent, signal, ...(limits && { limits }) })
  agent.restore(snapshotOfContext(done.selectedContext))
  return done
}
