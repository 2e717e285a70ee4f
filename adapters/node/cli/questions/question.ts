import type { AgentEndEvent, ApprovalResolvedEvent, InputResolvedEvent } from '../../../../src/loop/index.ts'

/** What a person has decided, to be done once the question is off the screen. */
export type Decision = () => void

/** What ends questions without an answer from here. */
export type QuestionEnd = AgentEndEvent | ApprovalResolvedEvent | InputResolvedEvent

/** Something that a person at the terminal is asked. */
export interface Question {
  /** What stands before what is typed. */
  readonly prompt: string
  /** Puts it on the screen. */
  show(): void
  /** Takes a line that was typed; `undefined` while more is asked. */
  answer(text: string): Decision | undefined
  /** What is done when nobody answers. */
  refuse(reason: string): Decision
  isEndedBy(event: QuestionEnd): boolean
}

/** Whether a line that was typed allows what was asked; everything else does not. */
export function isYes(line: string): boolean {
  return /^y(es)?$/i.test(line.trim())
}
