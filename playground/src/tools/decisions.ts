import type { PendingApproval } from '../../../src/index.ts'

/** What a person can say about a request: about what its card shows, and nothing else. */
export interface Decisions {
  approve(request: PendingApproval): void
  deny(request: PendingApproval): void
}
