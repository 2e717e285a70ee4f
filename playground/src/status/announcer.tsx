import { textOf } from '../../../src/index.ts'
import { escapeControls, type RunState } from '../../../src/store/index.ts'
import { plural } from '../parts/figures.ts'

/** Tells screen readers the milestones, never the tokens. Always in the page, or the first one would be missed. */
export function Announcer({ state }: { state: RunState }) {
  return (
    <p class="visually-hidden" role="status" data-testid="announcer">
      {milestone(state)}
    </p>
  )
}

function milestone(state: RunState): string {
  const [pending] = state.approvals
  if (pending !== undefined) return `${escapeControls(pending.toolName)} needs your approval.`
  if (state.retry !== undefined) return `The model failed; retry ${state.retry.attempt} of ${state.retry.maxRetries}.`
  const tools = Object.values(state.tools)
  const running = tools.find((tool) => tool.status === 'running')
  if (running !== undefined) return `Running ${escapeControls(running.toolName)}.`
  const failed = tools.findLast((tool) => tool.result !== undefined)
  if (state.status === 'running')
    return failed?.status === 'failed' ? `${escapeControls(failed.toolName)} failed.` : 'The assistant is working.'
  if (state.status === 'completed') return `The assistant replied${sentences(state)}.`
  return state.status === 'idle' ? '' : `The run ended: ${state.status}.`
}

function sentences({ messages }: RunState): string {
  const message = messages.at(-1)?.message
  if (message?.role !== 'assistant') return ''
  const found = textOf(message.content).match(/[.!?](?=\s|$)/g)?.length ?? 0
  return found === 0 ? '' : `, ${plural(found, 'sentence')}`
}
