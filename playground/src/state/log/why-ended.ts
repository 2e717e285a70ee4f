import type { StopReason, textOf } from '../../../../src/index.ts'
import type { RunFailure } from '../../../../src/loop.ts'
import type { MessageView, RunState } from '../../../../src/store.ts'
import { storageWords, wordsOfService } from '../notices/failure-words.ts'
import { type Remedy, remediesFor } from '../notices/remedies.ts'
import { type Misfits, noMisfits } from './answer-fit.ts'
import { runWords } from './run-words.ts'

/** Reasons why a run has ended. */
export interface Why {
  /** Used by the status line, the trace and the announcer. */
  word: string
  text: string
  isFailure: boolean
  remedies: readonly Remedy[]
}

/** Reasons for incomplete responses. `stop` and `toolUse` are normal. */
const words: Partial<Record<StopReason, string>> = {
  length: 'Cut off',
  guardRail: 'Refused',
  error: runWords.error,
  aborted: runWords.aborted,
  maxTurns: runWords.limit,
}

/** Returns the label for an incomplete response. */
export function stopWord({ message }: { message?: MessageView['message'] | undefined }, misfits = noMisfits): string | undefined {
  if (message?.role !== 'assistant') return undefined
  return words[message.stopReason] ?? (isEmpty(message) ? 'Empty' : misfits.get(message.id)?.word)
}

/** Returns why the last run ended, if that is notable. `undefined` during a run, or if the model finished normally. */
export function whyEnded(state: RunState, misfits = noMisfits): Why | undefined {
  const { status, failure, rejection = '', limit, runId } = state
  if (status === 'error' || failure !== undefined) {
    const { message = 'The reason is unknown.' } = failure ?? {}
    const found = failure === undefined ? [] : remediesFor(failure)
    const text = failure?.code === 'journal' ? notStored(failure) : wordsOfService(message)
    return { word: runWords.error, text, isFailure: true, remedies: found.includes('compactAndRetry') ? found : withRetry(found) }
  }
  if (status === 'rejected') {
    return {
      word: runWords.rejected,
      text: runId === undefined ? rejection : `${rejection} Your message is back in the composer.`,
      isFailure: true,
      remedies: [],
    }
  }
  if (status === 'limit') {
    const reason = limit === undefined ? 'a limit of the settings' : limit.reason
    return { word: runWords.limit, text: `The run stopped at a limit: ${reason}.`, isFailure: false, remedies: ['continue', 'settings'] }
  }
  if (status === 'aborted') {
    return { word: runWords.aborted, text: 'You stopped this run.', isFailure: false, remedies: ['continue'] }
  }
  return status === 'completed' || status === 'idle' ? whyAnswerEnded(state, misfits) : undefined
}

function whyAnswerEnded({ messages, endedBy }: RunState, misfits: Misfits): Why | undefined {
  const last = messages.findLast(({ role }) => role === 'assistant' || role === 'user')
  const message = last?.message?.role === 'assistant' ? last.message : undefined
  // For a run that ended before a reload, only its response shows the failure.
  if (message?.stopReason === 'error') {
    const text = wordsOfService(message.errorMessage ?? 'The reason is unknown.')
    return { word: runWords.error, text, isFailure: true, remedies: ['retry'] }
  }
  if (message?.stopReason === 'length') {
    const { output } = message.usage
    const text = `The response was truncated${output === 0 ? '' : ` after ${output} tokens`} at its output limit.`
    return { word: 'Cut off', text, isFailure: false, remedies: ['continue', 'settings'] }
  }
  if (message?.stopReason === 'guardRail') {
    const text = message.refusal ?? 'The provider or the model refused to respond.'
    return { word: 'Refused', text: `${text} Edit your message and rephrase it.`, isFailure: false, remedies: [] }
  }
  if (message !== undefined && message.stopReason !== 'toolUse' && isEmpty(message)) {
    return { word: 'Empty', text: 'The model returned no text.', isFailure: false, remedies: ['retry'] }
  }
  const misfit = message && misfits.get(message.id)
  if (misfit !== undefined) return { word: misfit.word, text: misfit.text, isFailure: false, remedies: ['retry', 'schema'] }
  if (endedBy === undefined) return undefined
  const by = endedBy.type === 'tool' ? `the tool ${endedBy.toolName}` : `the condition ${endedBy.name}`
  return { word: runWords.completed, text: `${by} ended the run.`, isFailure: false, remedies: [] }
}

function isEmpty({ content }: { content: Parameters<typeof textOf>[0] }): boolean {
  return content.every((block) => block.type === 'thinking' || (block.type === 'text' && block.text.trim() === ''))
}

/** Uses the page's or the browser's text, because the message is for programmers. */
function notStored({ message, cause }: RunFailure): string {
  const isTaken = cause?.code === 'conflict'
  const known = isTaken ? 'Another tab continued or deleted this conversation.' : storageWords({ cause })
  const why = known ?? cause?.message ?? message.replace(/^The run stopped .*? conversation: /, 'The browser did not store it: ')
  const sentence = /[.!?]$/.test(why) ? why : `${why}.`
  return `${sentence} The run stopped because its next step could not be stored. Earlier steps are stored.`
}

function withRetry(remedies: readonly Remedy[]): readonly Remedy[] {
  return remedies.includes('retry') ? remedies : ['retry', ...remedies]
}
