import { hasCallsToAnswer, shownContent, text, textOf, userMessage, withId } from '../../contract/message/message.ts'
import { plainDefaults } from '../../contract/run/settings.ts'
import type { RunEnding } from '../../types/run/run.ts'
import { hookFailed, refusalOf } from '../hooks.ts'
import { addNotice } from '../intake.ts'
import type { LoopState } from '../loop-state.ts'
import type { AssistantEntry } from '../model/assistant-stream.ts'
import type { AnswerGuard } from '../plugins/plugin-port.ts'

/** Maximum model calls to replace refused responses. */
const mostRepeats = 1

/**
 * Runs the plugins' `response` stages, then the `afterAnswer` hook on a final response, before the response enters the history. Removes
 * refused or replaced content from the message, which records the decision. A failing guard ends the run.
 */
export async function guardAnswer(loop: LoopState, message: AssistantEntry): Promise<void> {
  const { afterAnswer } = loop.config.hooks ?? {}
  for (const guard of loop.plugins?.responseStages ?? []) if (isWhole(message) && !loop.stop.aborted) await guarded(loop, message, guard)
  if (afterAnswer === undefined || !isWhole(message) || hasCallsToAnswer(message.content) || loop.stop.aborted) return
  await guarded(loop, message, { who: 'The afterAnswer hook', judge: afterAnswer })
}

/** Returns whether the model finished the response and no guard refused it. */
function isWhole(message: AssistantEntry): boolean {
  const { stopReason } = message
  return (
    (stopReason === 'stop' || stopReason === 'toolUse' || stopReason === 'length' || stopReason === 'guardRail') && !isRefused({ message })
  )
}

async function guarded(loop: LoopState, message: AssistantEntry, { who, judge }: AnswerGuard): Promise<void> {
  const { stop, context, turnIndex } = loop
  const { refusals } = loop.refused
  const wasShown = message.content.length > 0
  try {
    const info = { ...loop.hooks.origin(), turnIndex, messages: [...context.messages], signal: stop.signal, refusals }
    const asked = { ...info, message: structuredClone(message), text: textOf(shownContent(message)) }
    const verdict: unknown = await stop.race((async () => judge(asked))())
    const no = refusalOf(verdict)
    if (no !== undefined) refuse(loop, message, { who, verdict, reason: no === '.' ? undefined : no.slice(2), wasShown })
    else if (verdict !== undefined && verdict !== null && verdict !== true) replace(message, verdict, wasShown)
  } catch (error) {
    withhold(message, { verdict: 'refused', wasShown })
    if (stop.aborted) return
    loop.fail(hookFailed(who, error))
  }
}

function refuse(
  loop: LoopState,
  message: AssistantEntry,
  { who, verdict, reason, wasShown }: { who: string; verdict: unknown; reason: string | undefined; wasShown: boolean },
): void {
  withhold(message, { verdict: 'refused', ...(reason !== undefined && { reason }), wasShown })
  const { retry }: { retry?: unknown } = Object(verdict)
  loop.refused.refusals = retry === false ? mostRepeats + 1 : loop.refused.refusals + 1
  loop.refused.by = who
}

/** Treats an invalid verdict as an error, because it must not count as acceptance. */
function replace(message: AssistantEntry, verdict: unknown, wasShown: boolean): void {
  const { allow, text: words }: { allow?: unknown; text?: unknown } = Object(verdict)
  if (allow === true) return
  if (typeof words !== 'string') throw new TypeError('it must return { text }, { allow: false } or nothing')
  withhold(message, { verdict: 'replaced', wasShown })
  message.content = [text(words)]
}

/** Removes all model content from the message: blocks and data derived from them. */
function withhold(message: AssistantEntry, guard: NonNullable<AssistantEntry['guarded']>): void {
  message.content = []
  message.guarded = guard
  delete message.refusal
  delete message.logprobs
  if (guard.verdict === 'refused') message.stopReason = 'guardRail'
  else if (message.stopReason === 'toolUse') message.stopReason = 'stop'
}

/** Returns whether the hook refused a turn's response. */
export function isRefused({ message }: { message: AssistantEntry }): boolean {
  return message.guarded?.verdict === 'refused'
}

/** Returns the ending after a refused response, or `undefined` to call the model again with the reason. */
export async function refusedEnding(loop: LoopState, { message }: { message: AssistantEntry }): Promise<RunEnding | undefined> {
  const reason = message.guarded?.reason
  const why = reason === undefined ? '.' : `: ${reason}`
  const { refusals, by } = loop.refused
  if (refusals > mostRepeats) return { status: 'rejected', rejection: `${by} refused the answer${why}` }
  await addNotice(loop, withId(userMessage(`[Your answer was not shown${why === '.' ? '' : why}. Answer again.]`)))
  return undefined
}

/** Returns whether to request a repair of an invalid response. If so, adds the issues for the model to the history. */
export async function repairs(
  loop: LoopState,
  { message, results }: { message: AssistantEntry; results: readonly unknown[] },
): Promise<boolean> {
  const { checkAnswer, repair = plainDefaults.repair } = loop.config
  const isFinal = message.stopReason === 'stop' && results.length === 0 && !loop.inputs.isWaiting
  if (checkAnswer === undefined || !isFinal || loop.refused.repairs >= repair || loop.stop.aborted) return false
  const fault = await loop.stop.race(checkAnswer(message)).catch(() => undefined)
  if (fault === undefined || loop.stop.aborted) return false
  loop.refused.repairs += 1
  await addNotice(
    loop,
    withId(userMessage(`[Your answer does not have the form that was asked for. ${fault}\nAnswer again, in that form.]`)),
  )
  return true
}
