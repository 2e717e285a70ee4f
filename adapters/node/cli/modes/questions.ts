import type { AgentRun } from '../../../../src/index.ts'
import type { ApprovalRequestedEvent, InputRequestedEvent } from '../../../../src/loop/index.ts'
import type { Screen } from '../terminal/screen.ts'
import { CallQuestion, shownCall } from './call-question.ts'
import { InputForm } from './input-form.ts'
import type { Question, QuestionEnd } from './question.ts'

/** What is longer than this no person reads before saying yes. */
const longestShown = 20_000

/** The questions of runs, one after another, in the order in which they came. */
export class Questions {
  readonly #screen: Screen
  readonly #isYes: boolean
  readonly #waiting: Question[] = []

  constructor(screen: Screen, isYes: boolean) {
    this.#screen = screen
    this.#isYes = isYes
  }

  /** Whether somebody is asked now. */
  get isAsking(): boolean {
    return this.#waiting.length > 0
  }

  /** What stands before the answer to what is asked now. */
  get prompt(): string {
    return this.#waiting[0]?.prompt ?? ''
  }

  /** Takes a request. True when it is the first that waits: it is on the screen now, and `answer` is for it. */
  ask(run: AgentRun, event: ApprovalRequestedEvent | InputRequestedEvent): boolean {
    if (event.type === 'inputRequested') return this.#wait(new InputForm(this.#screen, run, event))
    const { length } = shownCall(event)
    if (length > longestShown) {
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
    return this.#wait(new CallQuestion(this.#screen, run, event))
  }

  /** Answers the question that is on the screen, or a part of it. */
  answer(text: string): void {
    const decision = this.#waiting[0]?.answer(text)
    if (decision !== undefined) this.#decide(decision)
  }

  /** Answers a form with nothing; false where none is on the screen. */
  dismiss(): boolean {
    const [first] = this.#waiting
    if (!(first instanceof InputForm)) return false
    this.#decide(first.refuse())
    return true
  }

  /** Nobody can answer any more. */
  denyAll(reason: string): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) this.#decide(next.refuse(reason))
  }

  /** Takes back what nobody has to answer any more: the run that asked has ended, or somebody else has decided. */
  withdraw(event: QuestionEnd): void {
    const first = this.#waiting[0]
    const rest = this.#waiting.filter((question) => !question.isEndedBy(event))
    this.#waiting.splice(0, Number.POSITIVE_INFINITY, ...rest)
    if (this.#waiting[0] !== first) this.#waiting[0]?.show()
  }

  #wait(question: Question): boolean {
    this.#waiting.push(question)
    if (this.#waiting.length === 1) question.show()
    return this.#waiting.length === 1
  }

  /** Off the screen before anything hears of it: what the decision brings about may be the next question. */
  #decide(decision: () => void): void {
    this.#waiting.shift()
    const next = this.#waiting[0]
    decision()
    if (next !== undefined && this.#waiting[0] === next) next.show()
  }
}
