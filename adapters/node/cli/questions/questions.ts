import type { InputRequestedEvent } from '../../../../src/contract/run/call-event.ts'
import type { AgentRun, PendingClientCall } from '../../../../src/index.ts'
import type { ApprovalRequestedEvent } from '../../../../src/loop.ts'
import { answerWithoutPage } from '../../../mcp/internal.ts'
import { triage } from '../permissions/triage.ts'
import type { Screen } from '../terminal/screen.ts'
import { CallQuestion, type Question, type QuestionEnd } from './call-question.ts'
import { type ChangeContext, ChangeQuestion, showChange } from './change-question.ts'
import { InputForm } from './input-form.ts'

/** Lines that are shown of a change that nobody is asked about. */
const mostUnasked = 30

/** What questions need. */
export interface QuestionsContext extends ChangeContext {
  /** A question is on the screen, and what is typed from now on answers it. */
  onShown(): void
}

/** The questions of runs, one after another, in the order in which they came. */
export class Questions {
  readonly #context: QuestionsContext
  readonly #waiting: Question[] = []
  /** Looking at files takes a moment; the order stays. */
  #before: Promise<void> = Promise.resolve()

  constructor(context: QuestionsContext) {
    this.#context = context
  }

  /** Whether somebody is asked now. */
  get isAsking(): boolean {
    return this.#waiting.length > 0
  }

  /** What stands before the answer to what is asked now. */
  get prompt(): string {
    return this.#waiting[0]?.prompt ?? ''
  }

  /** Takes a request: what is allowed runs, all else is put on the screen once it is the first that waits. */
  ask(run: AgentRun, event: ApprovalRequestedEvent | InputRequestedEvent): void {
    this.#before = this.#before.then(() => this.#ask(run, event))
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
    if (this.#waiting[0] !== first) this.#showFirst()
  }

  async #ask(run: AgentRun, event: ApprovalRequestedEvent | InputRequestedEvent): Promise<void> {
    const { screen } = this.#context
    if (event.type === 'inputRequested') return this.#wait(new InputForm(screen, run, event))
    const found = await triage(run, event, this.#context)
    if (found === undefined) return
    if (found.kind === 'refuse') {
      const why = found.length === 0 ? found.reason : `its ${found.length} characters are too many to read.`
      screen.line(screen.paint.paint('yellow', `? ${event.toolName}: not allowed, ${why}`))
      return run.deny(event, found.reason)
    }
    const { kind, change } = found
    if (kind === 'run') {
      if (change !== undefined) showChange(change, screen, mostUnasked)
      return run.approve(event)
    }
    this.#wait(change === undefined ? new CallQuestion(this.#context, run, event) : new ChangeQuestion(this.#context, run, event, change))
  }

  #wait(question: Question): void {
    this.#waiting.push(question)
    if (this.#waiting.length === 1) this.#showFirst()
  }

  #showFirst(): void {
    if (this.#waiting[0] === undefined) return
    this.#waiting[0].show()
    this.#context.onShown()
  }

  /** Off the screen before anything hears of it: what the decision brings about may be the next question. */
  #decide(decision: () => void): void {
    this.#waiting.shift()
    const next = this.#waiting[0]
    decision()
    if (next !== undefined && this.#waiting[0] === next) this.#showFirst()
  }
}

/** What a terminal does with calls that a page is to run. */
export interface ClientCallContext {
  screen: Screen
  /** Whether a page shares the session. */
  hasWebApp: boolean
}

/** A call that a page is to run, in a terminal: it is left to the page that shares the session, or else fails at once. The person is told which. */
export function askClient(run: AgentRun, call: PendingClientCall, { screen, hasWebApp }: ClientCallContext): void {
  const waits = 'It waits for a web app that has this tool and shows this session, at the URL of /open.'
  const fails = 'A terminal cannot run it, so the call fails. Use phi serve with a web app that has this tool.'
  screen.line(screen.paint.paint('yellow', `? ${call.toolName} is a browser tool. ${hasWebApp ? waits : fails}`))
  if (!hasWebApp) answerWithoutPage(run, call)
}
