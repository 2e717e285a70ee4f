import type { LoopStatus } from '../../contract/session/session.ts'

/** What the Rust crate knows of a loop's status, in its spelling. It refuses a whole file for any other word. */
export type LedgerStatus = 'Pending' | 'Running' | 'Completed' | 'Rejected' | 'Aborted'

const ledger = {
  pending: 'Pending',
  running: 'Running',
  completed: 'Completed',
  limit: 'Completed',
  paused: 'Completed',
  rejected: 'Rejected',
  error: 'Aborted',
  aborted: 'Aborted',
  interrupted: 'Aborted',
} as const satisfies Record<LoopStatus, LedgerStatus>

const native = {
  Pending: 'pending',
  Running: 'running',
  Completed: 'completed',
  Rejected: 'rejected',
  // What `Aborted` says there: no end was seen.
  Aborted: 'interrupted',
} as const satisfies Record<LedgerStatus, LoopStatus>

/** The status as the Rust crate writes it. Several of ours have one of its words, so keep ours beside it. */
export function toLedgerStatus(status: LoopStatus): LedgerStatus {
  return ledger[status]
}

/** What a status of the Rust crate means, where nothing says it more exactly. */
export function fromLedgerStatus(status: LedgerStatus): LoopStatus {
  return native[status]
}

/** Whether `word` is a `LoopStatus`. */
export function isLoopStatus(word: unknown): word is LoopStatus {
  return typeof word === 'string' && Object.hasOwn(ledger, word)
}
