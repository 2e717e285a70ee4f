import type { ApprovalResolvedEvent, InputResolvedEvent } from '../../../../src/contract/run/call-event.ts'
import type { AgentEndEvent } from '../../../../src/contract/run/event.ts'
import type { AgentRun } from '../../../../src/index.ts'
import type { ApprovalRequestedEvent } from '../../../../src/loop.ts'
import type { Permissions } from '../permissions/permissions.ts'
import { ruleFor, wordsOf } from '../permissions/rule.ts'
import { isWaiting, shownCall } from '../permissions/triage.ts'
import { linesOf } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { widthOf } from '../terminal/text-width.ts'

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

/** What a question about a call may use. */
export interface CallContext {
  screen: Screen
  permissions: Permissions
}

/**
 * Whether a call may run. `y` or `yes` is a yes; `a` and `f`, alone or before a pattern, are a yes from now on, in this session or this folder; all else is
 * a no, and other words are told as its reason.
 */
export class CallQuestion implements Question {
  readonly prompt = 'Allow? [y/N] '
  protected readonly context: CallContext
  protected readonly run: AgentRun
  protected readonly event: ApprovalRequestedEvent

  constructor(context: CallContext, run: AgentRun, event: ApprovalRequestedEvent) {
    this.context = context
    this.run = run
    this.event = event
  }

  show(): void {
    const { screen } = this.context
    const { paint } = screen.paint
    screen.line(paint('yellow', `? ${this.event.toolName}${this.who} wants to run:`))
    this.showCall()
    this.showKeys()
  }

  answer(text: string): Decision | undefined {
    const answer = text.trim()
    if (isYes(answer)) return () => this.approve()
    const [, scope, pattern] = /^([af])(?:\s+(.+))?$/.exec(answer) ?? []
    const rule = scope === undefined ? undefined : ruleFor(this.event, pattern)
    if (rule !== undefined && (scope === 'a' || this.context.permissions.canKeep)) {
      return () => {
        this.context.permissions.add(rule, scope === 'a' ? 'session' : 'folder')
        this.approve()
      }
    }
    // Words that begin so are a reason; the letter alone is none.
    if (scope !== undefined && pattern === undefined) {
      this.context.screen.line(this.context.screen.paint.paint('yellow', '  No rule can cover this call. Type y to allow it once.'))
      return undefined
    }
    return this.refuse(answer === '' || /^no?$/i.test(answer) ? 'The user did not allow this call.' : answer)
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

  protected approve(): void {
    if (this.isWaiting) this.run.approve(this.event)
  }

  protected get isWaiting(): boolean {
    return isWaiting(this.run, this.event)
  }

  protected get who(): string {
    return this.event.subAgent === undefined ? '' : ` (for ${this.event.subAgent.toolName})`
  }

  protected showCall(): void {
    const { screen } = this.context
    const { paint, plain } = screen.paint
    const lines = linesOf(plain(shownCall(this.event)))
    for (const line of lines) screen.line(paint('bold', `  ${line}`))
    const rows = lines.reduce((sum, line) => sum + Math.ceil((widthOf(line) + 2) / screen.width), 0)
    // Its end may be made to look like all of it.
    if (rows > screen.height - 4) screen.say('yellow', `  ${rows} rows do not fit on the screen. Scroll up to read them all.`)
  }

  protected showKeys(): void {
    const rule = ruleFor(this.event)
    if (rule === undefined) return
    const { screen, permissions } = this.context
    const keep = permissions.canKeep ? ', f in this folder' : ''
    screen.say('dim', `  y allow once, a always in this session${keep}: ${wordsOf(rule)}`)
  }
}
