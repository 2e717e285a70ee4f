import { textOf } from '../../contract/message/message.ts'
import { hasRates } from '../../contract/model/usage.ts'
import type { LoopState } from '../loop-state.ts'
import type { AssistantEntry } from '../model/assistant-stream.ts'

/** What nobody would notice: an answer that completes the run, and is not what was asked for. */
export function warnOfAnswer(loop: LoopState, { stopReason, content, usage, guarded }: AssistantEntry): void {
  // The application has said its own word about it.
  if (guarded !== undefined) return
  if (stopReason === 'length') {
    loop.warn('answerCut', {
      message: `The answer was cut after ${usage.output} tokens: the model may write no more of them at a time.`,
      hint: 'Raise maxTokens of the agent, or ask the model to go on.',
    })
  } else if (stopReason === 'guardRail') {
    loop.warn('answerRefused', {
      message: 'The model, or a filter of its service, refused to answer.',
      hint: 'The answer says why, where the service did.',
    })
  } else if (stopReason === 'stop' && content.some(({ type }) => type === 'thinking') && textOf(content).trim() === '') {
    loop.warn('answerWithoutText', {
      message: 'The model thought, and ended without saying anything.',
      hint: 'Raise maxTokens, lower thinking, or ask again.',
    })
  }
}

/** A loop in a run whose cost is limited, such as a sub-agent's: where its model has no prices, nothing of it counts. */
export function warnOfUncountedCost(loop: LoopState): void {
  const { config } = loop.config.model
  if (!loop.budget.limitsCost || hasRates(config)) return
  loop.warn('costNotCounted', {
    message: `The cost of this run is limited, but the model ${JSON.stringify(config.id)} has no prices: its calls count for nothing.`,
    hint: 'Pass catalogue of phi-core/models, or cost in USD per million tokens, to the factory of the model.',
  })
}
