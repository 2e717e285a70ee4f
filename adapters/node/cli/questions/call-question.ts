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

/** The user's decision, applied when the question is off the screen. */
export type Decision = () => void

/** Functions that end questions without a response. */
export type QuestionEnd = AgentEndEvent | ApprovalResolvedEvent | InputResolvedEvent

/** Something that a person at the terminal is asked. */
export interface Question {
  /** The prompt of the input line. */
  readonly prompt: string
  /** Shows the question. */
  show(): void
  /** Handles an input line; returns `undefined` if more input is needed. */
  answer(text: string): Decision | undefined
  /** Called if the question ends without a response. */
  refuse(reason: string): Decision
  isEndedBy(event: QuestionEnd): boolean
}

/** Returns whether the input means yes; everything else means no. */
export function isYes(line: string): boolean {
  return /^y(es)?$/i.test(line.trim())
}

/** Context of a question about a call. */
export interface CallContext {
  screen: Screen
  permissions: Permissions
}

/**
 * Asks whether a call may run. `y` or `yes` allows it; `a` and `f`, alone or before a pattern, allow it from now on in this session or folder;
 * anything else denies it, with other words as the reason.
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
    // Only the letter alone is a choice; a word that starts with it is part of a reason.
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
    // A truncated text could be forged to look complete.
    if (rows > screen.height - 4) screen.say('yellow', `  ${rows} rows do not fit on the screen. Scroll up to read them all.`)
  }

  protected showKeys(): void {
    const rule = ruleFor(this.event)
    if (rule === undefined) return
    const { screen, permissions } = this.context
    const keep = permissions.canKeep ? ', f in this folder' : ''
    screen.say('dim', `  y once, a always in this session${keep}: ${wordsOf(rule)}`)
  }
}
