import { errorText } from '../../../../src/contract/errors.ts'
import type { ApprovalResolvedEvent, InputResolvedEvent } from '../../../../src/contract/run/call-event.ts'
import type { AgentEndEvent } from '../../../../src/contract/run/event.ts'
import type { AgentRun, AgentTool, JsonObject, JsonSchema } from '../../../../src/index.ts'
import { toolJsonSchema } from '../../../../src/internal.ts'
import type { ApprovalRequestedEvent } from '../../../../src/loop.ts'
import type { Permissions } from '../permissions/permissions.ts'
import { ruleFor, wordsOf } from '../permissions/rule.ts'
import { isWaiting, shownCall } from '../permissions/triage.ts'
import { linesOf } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { widthOf } from '../terminal/text-width.ts'
import { ArgumentsForm } from './arguments-form.ts'

/** The user's decision, applied after the question is hidden. */
export type Decision = () => void

/** Functions that end questions without a response. */
export type QuestionEnd = AgentEndEvent | ApprovalResolvedEvent | InputResolvedEvent

/** A question to the user at the terminal. */
export interface Question {
  /** Prompt of the input line. */
  readonly prompt: string
  /** Shows the question. */
  show(): void
  /** Handles an input line. Returns `undefined` if more input is needed. */
  answer(text: string): Decision | undefined
  /** Called if the question ends without a response. */
  refuse(reason: string): Decision
  isEndedBy(event: QuestionEnd): boolean
}

/** Returns whether the input means yes. Anything else means no. */
export function isYes(line: string): boolean {
  return /^y(es)?$/i.test(line.trim())
}

/** Context of a question about a call. */
export interface CallContext {
  screen: Screen
  permissions: Permissions
  /** The agent's tools, for argument forms. Default: none. */
  tools?: () => readonly AgentTool[]
}

/**
 * Prompts the user to approve a call. `y` or `yes` allows the call. `a` or `f`, alone or before a pattern, also allows future calls in this
 * session or folder. `e` edits the arguments first. Any other input denies the call and is the reason.
 */
export class CallQuestion implements Question {
  protected readonly context: CallContext
  protected readonly run: AgentRun
  protected readonly event: ApprovalRequestedEvent
  #form: ArgumentsForm | undefined

  constructor(context: CallContext, run: AgentRun, event: ApprovalRequestedEvent) {
    this.context = context
    this.run = run
    this.event = event
  }

  get prompt(): string {
    return this.#form?.prompt ?? 'Allow? [y/N] '
  }

  show(): void {
    const { screen } = this.context
    const { paint } = screen.paint
    screen.line(paint('yellow', `? ${this.event.toolName}${this.who} wants to run:`))
    this.showCall(this.event.args)
    this.showKeys()
  }

  answer(text: string): Decision | undefined {
    if (this.#form !== undefined) return this.#fill(this.#form, text)
    const answer = text.trim()
    if (answer === 'e' && this.canEdit) {
      this.#form = new ArgumentsForm(this.context.screen, this.event.args, this.#schema())
      return undefined
    }
    if (isYes(answer)) return () => this.approve()
    const [, scope, pattern] = /^([af])(?:\s+(.+))?$/.exec(answer) ?? []
    const rule = scope === undefined ? undefined : ruleFor(this.event, pattern)
    if (rule !== undefined && (scope === 'a' || this.context.permissions.canKeep)) {
      return () => {
        this.context.permissions.add(rule, scope === 'a' ? 'session' : 'folder')
        this.approve()
      }
    }
    // Only the single letter is a choice. A word that starts with it is part of a reason.
    if (scope !== undefined && pattern === undefined) {
      this.context.screen.line(this.context.screen.paint.paint('yellow', '  No rule can cover this call. Type y to allow it once.'))
      return undefined
    }
    return this.refuse(answer === '' || /^no?$/i.test(answer) ? 'The user denied this call.' : answer)
  }

  refuse(reason: string): Decision {
    return () => {
      if (this.isWaiting) this.run.deny(this.event, reason)
    }
  }

  isEndedBy(event: QuestionEnd): boolean {
    if (event.runId !== this.event.runId) return false
    return event.type === 'agentEnd' || (event.type === 'approvalResolved' && event.toolCallId === this.event.toolCallId)
  }

  /** Closes the argument form. Returns false if it is not open. */
  leaveForm(): boolean {
    if (this.#form === undefined) return false
    this.#form = undefined
    this.context.screen.line(this.context.screen.paint.paint('yellow', '  The arguments are unchanged.'))
    this.showKeys()
    return true
  }

  /** Whether `e` edits the arguments. */
  protected get canEdit(): boolean {
    return true
  }

  /** Fills in a field, or runs the call with the new arguments. Resolving the request ends the question. */
  #fill(form: ArgumentsForm, text: string): undefined {
    const { done } = form
    if (done === undefined) {
      form.answer(text)
      if (form.done !== undefined) this.showCall(form.done)
    } else if (!isYes(text)) this.leaveForm()
    else {
      this.#form = undefined
      void this.#approveWith(done)
    }
  }

  async #approveWith(args: JsonObject): Promise<void> {
    try {
      if (this.isWaiting) await this.run.approve(this.event, { arguments: args })
    } catch (error) {
      if (!this.isWaiting) return
      this.context.screen.line(this.context.screen.paint.paint('yellow', `  ${errorText(error)}`))
      this.showKeys()
    }
  }

  /** The tool's schema, or `undefined` for a sub-agent's tool. */
  #schema(): JsonSchema | undefined {
    const tool = this.context.tools?.().find(({ name }) => name === this.event.toolName)
    return tool === undefined || this.event.subAgent !== undefined ? undefined : toolJsonSchema(tool)
  }

  protected approve(): void {
    if (this.isWaiting) this.run.approve(this.event)
  }

  protected get isWaiting(): boolean {
    return isWaiting(this.run, this.event)
  }

  protected get who(): string {
    return this.event.subAgent === undefined ? '' : ` (for ${this.event.subAgent.toolName})`
  }

  protected showCall(args: JsonObject): void {
    const { screen } = this.context
    const { paint, plain } = screen.paint
    const lines = linesOf(plain(shownCall({ args })))
    for (const line of lines) screen.line(paint('bold', `  ${line}`))
    const rows = lines.reduce((sum, line) => sum + Math.ceil((widthOf(line) + 2) / screen.width), 0)
    // Truncated text could be crafted to look complete.
    if (rows > screen.height - 4) screen.say('yellow', `  ${rows} rows do not fit on the screen. Scroll up to read them all.`)
  }

  protected showKeys(): void {
    const rule = ruleFor(this.event)
    const { screen, permissions } = this.context
    const edit = this.canEdit ? ', e edit' : ''
    if (rule === undefined) {
      if (this.canEdit) screen.say('dim', '  y once, e edit')
      return
    }
    const keep = permissions.canKeep ? ', f in this folder' : ''
    screen.say('dim', `  y once${edit}, a always in this session${keep}: ${wordsOf(rule)}`)
  }
}
