import { escapeControls } from '../../../src/index.ts'
import type { RunState } from '../../../src/store/index.ts'

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
  const running = Object.values(state.tools).find((tool) => tool.status === 'running')
  if (running !== undefined) return `Running ${escapeControls(running.toolName)}.`
  if (state.status === 'running') return 'The assistant is working.'
  if (state.status === 'completed') return 'The assistant replied.'
  return state.status === 'idle' ? '' : `The run ended: ${state.status}.`
}
