import { useRef } from 'preact/hooks'
import { textOf } from '../../../src/index.ts'
import { escapeControls, type RunState } from '../../../src/store.ts'
import { plural } from '../parts/figures.ts'
import type { Misfits } from '../state/log/answer-fit.ts'
import { runWords } from '../state/log/run-words.ts'
import { whyEnded } from '../state/log/why-ended.ts'
import type { Race } from '../state/race/race.ts'

interface AnnouncerProps {
  state: RunState
  misfits: Misfits
  race: Race | undefined
  isElsewhere: boolean
}

/**
 * Announces milestones to screen readers, but never tokens. Always rendered, because otherwise the first announcement would be missed.
 * Silent for background conversations.
 */
export function Announcer({ state, misfits, race, isElsewhere }: AnnouncerProps) {
  // A race's result is announced even though the conversation is reopened when the race ends.
  const ofLastRace = useRef('')
  if (race !== undefined) ofLastRace.current = ofRace(race)
  else if (state.runId !== undefined) ofLastRace.current = ''
  return (
    <p class="visually-hidden" role="status" data-testid="announcer">
      {!isElsewhere && (ofLastRace.current || milestone(state, misfits))}
    </p>
  )
}

function ofRace({ isRunning, loopIds, selectedLoopId, runs, marks, verdict = '' }: Race): string {
  if (isRunning) return `${plural(loopIds.length, 'response')} in progress.`
  if (selectedLoopId === undefined) return 'No response was chosen.'
  if (runs[selectedLoopId]?.failure !== undefined) return 'All answers failed.'
  const name = marks[selectedLoopId]?.name ?? 'One of them'
  return `${escapeControls(name)} was chosen. ${escapeControls(verdict)}`
}

function milestone(state: RunState, misfits: Misfits): string {
  const [pending] = state.approvals
  if (pending !== undefined) return `${escapeControls(pending.toolName)} needs your approval.`
  const [question] = state.inputs
  if (question !== undefined) return `${escapeControls(question.toolName)} asks: ${escapeControls(question.message)}`
  if (state.retry !== undefined) return `The model failed; retry ${state.retry.attempt} of ${state.retry.maxRetries}.`
  const tools = Object.values(state.tools)
  const running = tools.find((tool) => tool.status === 'running')
  if (running !== undefined) return `Running ${escapeControls(running.toolName)}.`
  const failed = tools.findLast((tool) => tool.result !== undefined)
  if (state.status === 'running')
    return failed?.status === 'failed' ? `${escapeControls(failed.toolName)} failed.` : 'The assistant is working.'
  if (state.runId === undefined) return ''
  const why = whyEnded(state, misfits)
  if (why !== undefined) return `${why.word}. ${escapeControls(why.text)}`
  return state.status === 'completed' ? `${runWords.completed}. The assistant replied${sentences(state)}.` : ''
}

function sentences({ messages }: RunState): string {
  const message = messages.findLast(({ role }) => role !== 'extension')?.message
  if (message?.role !== 'assistant') return ''
  const found = textOf(message.content).match(/[.!?](?=\s|$)/g)?.length ?? 0
  return found === 0 ? '' : `, ${plural(found, 'sentence')}`
}
