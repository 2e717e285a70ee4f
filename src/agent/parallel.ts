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

/** Who answers, and who chooses. */
export interface ParallelModels extends Pick<ParallelOptions, 'limits'> {
  /** One branch for each. */
  models: readonly Model[]
  /** A model that reads the answers and names the best one, or a strategy of `phi-core/loop`. */
  judge: Model | EvaluationStrategy
  /** Receives the events of all branches and of the judge, interleaved. Tell them apart by `loopId`. Default: nobody. */
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
 * Asks several models the same thing at the same time, and goes on with the best answer: the history of `agent` is that of the chosen branch afterwards.
 *
 * **Contract**
 * - Each branch has the settings, tools and history of `agent`, and its own model. Tools of all branches run.
 * - `result` is the run that was chosen, `reason` what the judge said, `totalUsage` all that was used.
 * - Nobody is asked for approvals: a branch whose call needs one ends `paused`.
 * - Rejects with `AgentBusyError` while a run is on, also one that began meanwhile; with `ConfigError` for an agent that has a session store (use
 *   `parallelLoop` with a journal there), and as `parallelLoop` does.
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
