import type { AgentRun } from '../../../../src/index.ts'
import type { ApprovalRequestedEvent } from '../../../../src/loop.ts'
import { diffLines } from '../changes/diff-lines.ts'
import type { EditedFiles } from '../changes/edited-files.ts'
import type { ProposedChange } from '../changes/proposed-change.ts'
import { joined, type Painted } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { cutTo } from '../terminal/text-width.ts'
import { type CallContext, CallQuestion, type Decision } from './call-question.ts'

/** Maximum diff lines to show. */
export const mostLines = 400

/** Additional context of a question about a change. */
export interface ChangeContext extends CallContext {
  files: EditedFiles
  /** Opens an editor for a text. `undefined` if no editor is available. */
  editText?: (text: string, name: string) => Promise<string | undefined>
}

/** Shows a diff and prompts the user to approve a file change. `e` edits the content first. */
export class ChangeQuestion extends CallQuestion {
  readonly #context: ChangeContext
  #change: ProposedChange
  #isAmended = false

  constructor(context: ChangeContext, run: AgentRun, event: ApprovalRequestedEvent, change: ProposedChange) {
    super(context, run, event)
    this.#context = context
    this.#change = change
  }

  override answer(text: string): Decision | undefined {
    if (text.trim() !== 'e' || this.#context.editText === undefined) return super.answer(text)
    void this.#edit(this.#context.editText)
    return undefined
  }

  protected override approve(): void {
    if (this.#isAmended) this.#context.files.amend(this.event.toolCallId, this.#change.after)
    super.approve()
  }

  override show(): void {
    const { screen } = this.#context
    const { before, isBinary } = this.#change
    const what = before === undefined ? 'create' : isBinary === true ? 'replace a binary file' : 'change'
    screen.line(screen.paint.paint('yellow', `? ${this.event.toolName}${this.who} wants to ${what}:`))
    showChange(this.#change, screen, mostLines)
    this.showKeys()
  }

  /** The user edits the content of the file instead. */
  protected override get canEdit(): boolean {
    return false
  }

  protected override showKeys(): void {
    super.showKeys()
    const { screen, editText } = this.#context
    if (editText !== undefined) screen.say('dim', '  e edit first, n deny, or type a reason')
  }

  async #edit(editText: NonNullable<ChangeContext['editText']>): Promise<void> {
    const { screen } = this.#context
    const text = await editText(this.#change.after, this.#change.path)
    if (!this.isWaiting) return
    if (text !== undefined && text !== this.#change.after) {
      this.#change = { ...this.#change, after: text }
      this.#isAmended = true
      screen.line(screen.paint.paint('yellow', '? with your changes:'))
      showChange(this.#change, screen, mostLines)
    } else screen.line(screen.paint.paint('yellow', '  You made no changes.'))
  }
}

/** Formats a change: the file, the number of added and removed lines, and up to `most` lines of the diff. */
export function showChange(change: ProposedChange, screen: Screen, most: number): void {
  const { paint } = screen.paint
  const { lines, size, left } = diffLines(change, screen.paint, most)
  screen.line(joined(headOf(change.path, screen), paint('green', `  +${size.added}`), paint('red', ` -${size.removed}`)))
  for (const line of lines) screen.line(cutTo(joined(screen.paint.plain('  '), line), screen.width * 20))
  if (left > 0) screen.line(paint('yellow', `  … ${left} more lines`))
}

const headOf = (path: string, { paint, width }: Screen): Painted => cutTo(paint.paint('bold', `  ${path}`), width - 16)
