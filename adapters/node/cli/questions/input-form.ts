import type { InputRequestedEvent } from '../../../../src/contract/run/call-event.ts'
import type { AgentRun, InputAnswer, JsonObject } from '../../../../src/index.ts'
import { linesOf } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { type Decision, isYes, type Question, type QuestionEnd } from './call-question.ts'
import { type FormField, fieldsOf } from './form-fields.ts'

/** Prompts for the fields of an input request, one line each, and then for confirmation. */
export class InputForm implements Question {
  readonly #screen: Screen
  readonly #run: AgentRun
  readonly #event: InputRequestedEvent
  readonly #fields: readonly FormField[]
  readonly #content: JsonObject = Object.create(null)
  #at = 0

  constructor(screen: Screen, run: AgentRun, event: InputRequestedEvent) {
    this.#screen = screen
    this.#run = run
    this.#event = event
    this.#fields = event.url === undefined ? fieldsOf(event) : []
  }

  get prompt(): string {
    const field = this.#fields[this.#at]
    if (field === undefined) return this.#fields.length === 0 ? 'Agree? [y/N] ' : 'Send it? [y/N] '
    const preset = field.preset === undefined ? '' : ` [${shownValue(field.preset)}]`
    return `${field.name.slice(0, 60)} (${field.expected})${preset}: `
  }

  show(): void {
    const { paint, plain } = this.#screen.paint
    const { toolName, subAgent, message, url, problem } = this.#event
    const who = subAgent === undefined ? '' : ` (for ${subAgent.toolName})`
    this.#screen.line(paint('yellow', `? ${toolName}${who} asks:`))
    for (const line of linesOf(plain(message))) this.#screen.line(paint('bold', `  ${line}`))
    if (url !== undefined) this.#screen.line(plain(`  If you trust this link, open it yourself: ${url}`))
    if (problem !== undefined) this.#screen.line(paint('yellow', `  Your input was rejected: ${problem}`))
    this.#screen.line(paint('dim', '  Your input goes to the tool. Esc cancels.'))
    this.#showField()
  }

  answer(text: string): Decision | undefined {
    const field = this.#fields[this.#at]
    if (field === undefined) return this.#decided(isYes(text) ? this.#accepted() : { action: 'decline' })
    const reading = field.read(text)
    if ('problem' in reading) {
      this.#screen.line(this.#screen.paint.paint('yellow', `  ${reading.problem}`))
      return undefined
    }
    if (reading.value !== undefined) this.#content[field.name] = reading.value
    this.#at += 1
    this.#showField()
    return undefined
  }

  refuse(): Decision {
    return this.#decided({ action: 'cancel' })
  }

  isEndedBy(event: QuestionEnd): boolean {
    return event.type === 'agentEnd'
      ? event.runId === this.#event.runId
      : event.type === 'inputResolved' && event.inputId === this.#event.inputId
  }

  #accepted(): InputAnswer {
    return this.#fields.length === 0 ? { action: 'accept' } : { action: 'accept', content: { ...this.#content } }
  }

  #decided(answer: InputAnswer): Decision {
    const { inputId } = this.#event
    return () => {
      // The request was withdrawn in the meantime.
      if (this.#run.pendingInputs().some((pending) => pending.inputId === inputId)) this.#run.answer(this.#event, answer)
    }
  }

  #showField(): void {
    const field = this.#fields[this.#at]
    if (field === undefined) return
    const { paint, plain } = this.#screen.paint
    if (field.description !== '') for (const line of linesOf(plain(field.description))) this.#screen.line(paint('dim', `  ${line}`))
    for (const [at, { title }] of field.choices.entries()) this.#screen.line(plain(`  ${String(at + 1).padStart(2)}  ${title}`))
  }
}

const shownValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 60)
