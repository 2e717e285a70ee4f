import type { Message } from '../../../../src/index.ts'
import type { AgentStartEvent } from '../../../../src/loop.ts'
import type { LoopStatus } from '../../../../src/session.ts'
import type { RunState, ToolStatus } from '../../../../src/store.ts'

/** Label for a run's status. It is the same in the header, list, trace, tree, tab title and export. */
export const runWords: Readonly<Record<RunState['status'] | LoopStatus, string>> = {
  idle: 'Ready',
  pending: 'Waiting',
  running: 'Running',
  completed: 'Done',
  error: 'Failed',
  aborted: 'Stopped',
  limit: 'Limit reached',
  paused: 'Paused',
  rejected: 'Rejected',
  interrupted: 'Broken off',
}

/** Label for a run's kind. */
export const kindWords: Readonly<Record<AgentStartEvent['continuationKind']['kind'], string>> = {
  initial: 'run',
  default: 'run',
  rerun: 'answered again',
  branch: 'branch',
  compaction: 'compaction',
}

/** Label for a call's status. */
export const toolWords: Readonly<Record<ToolStatus, string>> = {
  streaming: 'writing arguments',
  ready: 'waiting',
  pendingClient: 'waits for a page',
  pendingApproval: 'needs your approval',
  running: 'running',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
  // The run ended before the call did.
  cancelled: 'stopped',
  unknown: 'outcome unknown',
}

/** Label for a user message that the runtime wrote, by its origin, or `undefined` for the user's own messages. */
export function originLabel({ role, provenanceHint }: Spoken): string | undefined {
  return role === 'user' ? originLabels[provenanceHint?.kind ?? ''] : undefined
}

/** Label for a message's author. */
export const speakerOf = (message: Spoken): string => originLabel(message) ?? roles[message.role]

interface Spoken {
  role: Message['role']
  provenanceHint?: { kind: string } | undefined
}

const roles: Readonly<Record<Message['role'], string>> = { user: 'You', assistant: 'Assistant', toolResult: 'Tool result' }
const originLabels: Readonly<Record<string, string>> = { background: 'Background report', runtime: 'Agent note' }
