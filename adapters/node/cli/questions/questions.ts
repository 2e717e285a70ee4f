import type { InputRequestedEvent } from '../../../../src/contract/run/call-event.ts'
import type { AgentRun, PendingClientCall } from '../../../../src/index.ts'
import type { ApprovalRequestedEvent } from '../../../../src/loop.ts'
import { answerWithoutPage } from '../../../mcp/internal.ts'
import { triage } from '../permissions/triage.ts'
import type { Screen } from '../terminal/screen.ts'
import { CallQuestion, type Question, type QuestionEnd } from './call-question.ts'
import { type ChangeContext, ChangeQuestion, showChange } from './change-question.ts'
import { InputForm } from './input-form.ts'

/** Maximum diff lines to show for a change that needs no question. */
const mostUnasked = 30

/** Context for the questions. */
export interface QuestionsContext extends ChangeContext {
  /** Called when a question is shown and receives the input. */
  onShown(): void
}

/** Shows the runs' questions one at a time, in order. */
export class Questions {
  readonly #context: QuestionsContext
  readonly #waiting: Question[] = []
  /** Preserves the order, because reading files is asynchronous. */
  #before: Promise<void> = Promise.resolve()

  constructor(context: QuestionsContext) {
    this.#context = context
  }

  /** Whether a question is shown. */
  get isAsking(): boolean {
    return this.#waiting.length > 0
  }

  /** The prompt of the current question. */
  get prompt(): string {
    return this.#waiting[0]?.prompt ?? ''
  }

  /** Adds a request. Allowed calls run immediately. Others are shown in order. */
  ask(run: AgentRun, event: ApprovalRequestedEvent | InputRequestedEvent): void {
    this.#before = this.#before.then(() => this.#ask(run, event))
  }

  /** Handles input for the current question or one of its fields. */
  answer(text: string): void {
    const decision = this.#waiting[0]?.answer(text)
    if (decision !== undefined) this.#decide(decision)
  }

  /** Closes the argument form, or cancels an input request. Returns false without a form. */
  dismiss(): boolean {
    const [first] = this.#waiting
    if (first instanceof CallQuestion) return first.leaveForm()
    if (!(first instanceof InputForm)) return false
    this.#decide(first.refuse())
    return true
  }

  /** Ends all questions, because no user can respond. */
  denyAll(reason: string): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) this.#decide(next.refuse(reason))
  }

  /** Removes questions that are no longer pending, because the run has ended or another client has decided. */
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

  /** Hides the question before applying the decision, which may show the next question. */
  #decide(decision: () => void): void {
    this.#waiting.shift()
    const next = this.#waiting[0]
    decision()
    if (next !== undefined && this.#waiting[0] === next) this.#showFirst()
  }
}

/** Context for client calls in a terminal. */
export interface ClientCallContext {
  screen: Screen
  /** Whether a browser shares the session. */
  hasWebApp: boolean
}

/** Handles a client call in a terminal: leaves it to a browser that shares the session, or fails it immediately. Informs the user. */
export function askClient(run: AgentRun, call: PendingClientCall, { screen, hasWebApp }: ClientCallContext): void {
  const waits = 'The call waits for a web app with this tool that shows this session at the URL from /open.'
  const fails = 'A terminal cannot run this tool, so the call fails. Use phi serve with a web app that has the tool.'
  screen.line(screen.paint.paint('yellow', `? ${call.toolName} is a browser tool. ${hasWebApp ? waits : fails}`))
  if (!hasWebApp) answerWithoutPage(run, call)
}
