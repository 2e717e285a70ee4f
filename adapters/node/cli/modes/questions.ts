import type { AgentRun, ApprovalRequestedEvent, InputRequestedEvent } from '../../../../src/index.ts'
import { linesOf } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { widthOf } from '../terminal/text-width.ts'

/** What is longer than this no person reads before saying yes. */
const longestShown = 20_000

/** What became of an answer. */
type Verdict = { isAllowed: boolean; reason?: string }

/** The questions of runs, one after another, in the order in which they came. */
export class Questions {
  readonly #screen: Screen
  readonly #isYes: boolean
  readonly #waiting: { run: AgentRun; event: ApprovalRequestedEvent }[] = []

  constructor(screen: Screen, isYes: boolean) {
    this.#screen = screen
    this.#isYes = isYes
  }

  /** Whether somebody is asked now. */
  get isAsking(): boolean {
    return this.#waiting.length > 0
  }

  /** Takes a request. True when it is the first that waits: it is on the screen now, and `answer` is for it. */
  ask(run: AgentRun, event: ApprovalRequestedEvent): boolean {
    const shown = shownCall(event)
    if (shown.length > longestShown) {
      const { length } = shown
      this.#screen.line(
        this.#screen.paint.paint('yellow', `? ${event.toolName}: not allowed, its ${length} characters are too many to read.`),
      )
      run.deny(
        event,
        `The call has ${length} characters; a person must be able to read it. Make it shorter, for example by writing a file first.`,
      )
      return false
    }
    if (this.#isYes) {
      run.approve(event)
      return false
    }
    this.#waiting.push({ run, event })
    if (this.#waiting.length === 1) this.#show()
    return this.#waiting.length === 1
  }

  /** A tool asks for more than yes or no, for which there is no form here: it is told that nobody answers. */
  cancel(run: AgentRun, event: InputRequestedEvent): void {
    this.#screen.line(
      this.#screen.paint.paint('yellow', `${event.toolName} asks something that cannot be answered here; it goes on without.`),
    )
    run.answer(event, { action: 'cancel' })
  }

  /** Answers the question that is on the screen: `y` or `yes` is a yes; all else is a no, and other words are told as its reason. */
  answer(text: string): void {
    const verdict = read(text)
    this.#decide(verdict)
  }

  /** Nobody can answer any more. */
  denyAll(reason: string): void {
    while (this.#waiting.length > 0) this.#decide({ isAllowed: false, reason })
  }

  /** Takes back what nobody has to answer any more: the run that asked has ended, or somebody else has decided. */
  withdraw(event: { runId: string; toolCallId?: string }): void {
    const first = this.#waiting[0]
    const rest = this.#waiting.filter(
      ({ event: { runId, toolCallId } }) => runId !== event.runId || (event.toolCallId !== undefined && toolCallId !== event.toolCallId),
    )
    this.#waiting.splice(0, Number.POSITIVE_INFINITY, ...rest)
    if (this.#waiting.length > 0 && this.#waiting[0] !== first) this.#show()
  }

  #decide({ isAllowed, reason }: Verdict): void {
    const next = this.#waiting.shift()
    if (next === undefined) return
    if (isAllowed) next.run.approve(next.event)
    else if (isStillWaiting(next)) next.run.deny(next.event, reason ?? 'The user did not allow this call.')
    if (this.#waiting.length > 0) this.#show()
  }

  #show(): void {
    const event = this.#waiting[0]?.event
    if (event === undefined) return
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
}

/** A run that was stopped asks for nothing any more. */
function isStillWaiting({ run, event }: { run: AgentRun; event: ApprovalRequestedEvent }): boolean {
  return run.pendingApprovals().some(({ toolCallId }) => toolCallId === event.toolCallId)
}

/** The command as it is; of other calls the arguments. */
function shownCall({ arguments: args }: ApprovalRequestedEvent): string {
  const { command, ...others } = args
  return typeof command === 'string' && Object.keys(others).length === 0 ? command : JSON.stringify(args, undefined, 2)
}

function read(text: string): Verdict {
  const answer = text.trim()
  if (/^y(es)?$/i.test(answer)) return { isAllowed: true }
  if (answer === '' || /^no?$/i.test(answer)) return { isAllowed: false }
  return { isAllowed: false, reason: answer }
}
