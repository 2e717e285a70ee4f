import type { ClientCallAnswer } from '../../types/run/question.ts'

/** What a page says came of a call that it was to run, as a client sent it. */
export interface ToolOutcome {
  toolCallId: string
  answer: ClientCallAnswer
}
