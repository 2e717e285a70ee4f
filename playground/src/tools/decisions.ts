import type { InputAnswer, PendingApproval, PendingInput } from '../../../src/index.ts'

/** What a person can say about a request: about what its card shows, and nothing else. */
export interface Decisions {
  approve(request: PendingApproval): void
  deny(request: PendingApproval): void
  /** Answers what a running call asks. */
  answer(question: PendingInput, answer: InputAnswer): void
}
