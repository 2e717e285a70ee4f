import type { InputAnswer, JsonObject, JsonSchema, PendingApproval, PendingInput } from '../../../src/index.ts'

/** Decisions about exactly the request that a card shows. */
export interface Decisions {
  /** Approves the call, with other arguments if given. */
  approve(request: PendingApproval, args?: JsonObject): void
  /** Returns the parameters of the tool that a request is for, if this page has the tool. */
  parametersOf(request: PendingApproval): JsonSchema | undefined
  deny(request: PendingApproval): void
  /** The unsent message. */
  readonly draft: {
    /** Inserts text before it. */
    giveBack(text: string, media: readonly []): void
  }
  /** Responds to a request of a running call. */
  answer(question: PendingInput, answer: InputAnswer): void
}
