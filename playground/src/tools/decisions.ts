import type { InputAnswer, PendingApproval, PendingInput } from '../../../src/index.ts'

/** Decisions about exactly the request that a card shows. */
export interface Decisions {
  approve(request: PendingApproval): void
  deny(request: PendingApproval): void
  /** Responds to a request of a running call. */
  answer(question: PendingInput, answer: InputAnswer): void
}
