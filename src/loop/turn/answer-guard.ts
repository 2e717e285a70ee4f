import { hasCallsToAnswer, shownContent, text, textOf, userMessage, withId } from '../../contract/message/message.ts'
import type { AnswerVerdict } from '../../types/run/hooks.ts'
import type { RunEnding } from '../../types/run/run.ts'
import { hookFailed, refusalOf } from '../hooks.ts'
import { addNotice } from '../intake.ts'
import type { LoopState } from '../loop-state.ts'
import type { AssistantEntry } from '../model/assistant-stream.ts'

/** How often an answer that a hook refuses is asked for again. */
const mostRepeats = 1

/**
 * Asks the `afterAnswer` hook about an answer that would end the run, before it is in the history. What it refuses, or replaces, is taken out of the message, which
 * says so; the hook that fails ends the run. `undefined` where nobody is asked.
 */
export function guardAnswer(loop: LoopState, message: AssistantEntry): Promise<void> | undefined {
  const { afterAnswer } = loop.config.hooks ?? {}
  const { stopReason, content } = message
  const isFinal = (stopReason === 'stop' || stopReason === 'length' || stopReason === 'guardRail') && !hasCallsToAnswer(content)
  return afterAnswer === undefined || !isFinal || loop.stop.aborted ? undefined : guarded(loop, message, afterAnswer)
}

async function guarded(
  loop: LoopState,
  message: AssistantEntry,
  hook: NonNullable<NonNullable<LoopState['config']['hooks']>['afterAnswer']>,
): Promise<void> {
  const { stop, context, turnIndex, refusedAnswers: refusals } = loop
  const wasShown = message.content.length > 0
  try {
    const info = { ...loop.hooks.origin(), turnIndex, messages: [...context.messages], signal: stop.signal, refusals }
    const asked = { ...info, message: structuredClone(message), text: textOf(shownContent(message)) }
    const verdict: AnswerVerdict = await stop.race((async () => hook(asked))())
    const no = refusalOf(verdict)
    if (no !== undefined) refuse(loop, message, { verdict, reason: no === '.' ? undefined : no.slice(2), wasShown })
    else if (verdict !== undefined && verdict !== null && verdict !== true) replace(message, verdict, wasShown)
  } catch (error) {
    withhold(message, { verdict: 'refused', wasShown })
    if (stop.aborted) return
    loop.fail(hookFailed('The afterAnswer hook', error))
  }
}

function refuse(
  loop: LoopState,
  message: AssistantEntry,
  { verdict, reason, wasShown }: { verdict: AnswerVerdict; reason: string | undefined; wasShown: boolean },
): void {
  withhold(message, { verdict: 'refused', ...(reason !== undefined && { reason }), wasShown })
  loop.refusedAnswers += 1
  if (typeof verdict === 'object' && 'retry' in verdict && verdict.retry === false) loop.refusedAnswers = mostRepeats + 1
}

/** Fails closed: an answer that means something else than yes must not be taken for one. */
function replace(message: AssistantEntry, verdict: unknown, wasShown: boolean): void {
  const { allow, text: words }: { allow?: unknown; text?: unknown } = Object(verdict)
  if (allow === true) return
  if (typeof words !== 'string') throw new TypeError('it answered neither { text }, nor { allow: false }, nor nothing')
  withhold(message, { verdict: 'replaced', wasShown })
  message.content = [text(words)]
}

/** Nothing of what was said is kept: not in the blocks, and not in what stands beside them. */
function withhold(message: AssistantEntry, guard: NonNullable<AssistantEntry['guarded']>): void {
  message.content = []
  message.guarded = guard
  delete message.refusal
  delete message.logprobs
  if (guard.verdict === 'refused') message.stopReason = 'guardRail'
}

/** Whether the answer of a turn was refused by the hook. */
export function isRefused({ message }: { message: AssistantEntry }): boolean {
  return message.guarded?.verdict === 'refused'
}

/** How the run ends with an answer that was refused; `undefined`: the model is told why, and asked once more. */
export async function refusedEnding(loop: LoopState, { message }: { message: AssistantEntry }): Promise<RunEnding | undefined> {
  const reason = message.guarded?.reason
  const why = reason === undefined ? '.' : `: ${reason}`
  if (loop.refusedAnswers > mostRepeats) return { status: 'rejected', rejection: `The afterAnswer hook refused the answer${why}` }
  await addNotice(loop, withId(userMessage(`[Your answer was not shown${why === '.' ? '' : why}. Answer again.]`)))
  return undefined
}

/** Whether an answer is asked for again because it does not have its form: the model is told what is wrong. */
export async function repairs(
  loop: LoopState,
  { message, results }: { message: AssistantEntry; results: readonly unknown[] },
): Promise<boolean> {
  const { checkAnswer, repair = 0 } = loop.config
  const isFinal = message.stopReason === 'stop' && results.length === 0 && !loop.inputs.isWaiting
  if (checkAnswer === undefined || !isFinal || loop.repairs >= repair || loop.stop.aborted) return false
  const fault = await loop.stop.race(checkAnswer(message)).catch(() => undefined)
  if (fault === undefined || loop.stop.aborted) return false
  loop.repairs += 1
  await addNotice(
    loop,
    withId(userMessage(`[Your answer does not have the form that was asked for. ${fault}\nAnswer again, in that form.]`)),
  )
  return true
}
