import type { AgentRun } from '../../../../src/index.ts'
import type { ApprovalRequestedEvent } from '../../../../src/loop/index.ts'
import { linesOf } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { widthOf } from '../terminal/text-width.ts'
import { type Decision, isYes, type Question, type QuestionEnd } from './question.ts'

/** Whether a call may run. `y` or `yes` is a yes; all else is a no, and other words are told as its reason. */
export class CallQuestion implements Question {
  readonly prompt = 'Allow? [y/N] '
  readonly #screen: Screen
  readonly #run: AgentRun
  readonly #event: ApprovalRequestedEvent

  constructor(screen: Screen, run: AgentRun, event: ApprovalRequestedEvent) {
    this.#screen = screen
    this.#run = run
    this.#event = event
  }

  show(): void {
    const event = this.#event
    const { paint, plain } = this.#screen.paint
    const who = event.subAgent === undefined ? '' : ` (for ${event.subAgent.toolName})`
    this.#screen.line(paint('yellow', `? ${event.toolName}${who} wants to run:`))
    const lines = linesOf(plain(shownCall(event)))
    for (const line of lines) this.#screen.line(paint('bold', `  ${line}`))
    const rows = lines.reduce((sum, line) => sum + Math.ceil((widthOf(line) + 2) / this.#screen.width), 0)
    // Its end may be made to look like all of it.
    if (rows > this.#screen.height - 4)
      this.#screen.line(paint('yellow', `  These were ${rows} rows, more than you see: scroll up to read them all.`))
  }

  answer(text: string): Decision {
    const answer = text.trim()
    if (isYes(answer)) return () => this.#run.approve(this.#event)
    return this.refuse(answer === '' || /^no?$/i.test(answer) ? 'The user did not allow this call.' : answer)
  }

  refuse(reason: string): Decision {
    return () => {
      // A run that was stopped asks for nothing any more.
      const isWaiting = this.#run.pendingApprovals().some(({ toolCallId }) => toolCallId === this.#event.toolCallId)
      if (isWaiting) this.#run.deny(this.#event, reason)
    }
  }

  isEndedBy(event: QuestionEnd): boolean {
    if (event.runId !== this.#event.runId) return false
    return event.type === 'agentEnd' || (event.type === 'approvalResolved' && event.toolCallId === this.#event.toolCallId)
  }
}

/** The command as it is; of other calls the arguments. */
export function shownCall({ arguments: args }: ApprovalRequestedEvent): string {
  const { command, ...others } = args
  return typeof command === 'string' && Object.keys(others).length === 0 ? command : JSON.stringify(args, undefined, 2)
}
