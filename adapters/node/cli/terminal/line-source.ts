import { createInterface } from 'node:readline'

/** What is typed and not yet sent. */
export interface Typed {
  text: string
  cursor: number
  /** What stands before it in place of the prompt, while the history is searched. */
  label?: string
}

/** Where lines that a person says come from. */
export interface LineSource {
  readonly typed: Typed
  /** What could be meant, while something can be completed: the first is what Tab takes. */
  readonly suggestions: readonly string[]
  /** Takes away what is typed, and gives it back. */
  take(): string
  /** Puts text where the cursor is. */
  insert(text: string): void
  /** Has a line found again, by arrow keys and Ctrl-R. */
  remember(line: string): void
  /** Runs a program that takes the terminal meanwhile; see `TerminalMode`. */
  lend(command: string, args: readonly string[]): Promise<number | undefined>
  close(): void
}

/** Keys that mean something to whoever reads lines. */
export type NamedKey = 'shiftTab' | 'editor' | 'pasteImage' | 'open'

/** What a line source tells. */
export interface LineListener {
  line(text: string): void
  /** Something was typed, or the terminal is ours again. */
  change(): void
  /** Ctrl-C. */
  interrupt(): void
  /** The escape key. */
  escape(): void
  /** Shift-Tab, Ctrl-G, Ctrl-V, Ctrl-O. */
  named?(key: NamedKey): void
  /** The terminal has said whether what is behind its text is light. */
  background?(isLight: boolean): void
  /** Nothing will come any more. */
  end(): void
  /** Something to tell the person. */
  note(text: string): void
}

/** Lines as they come, where nothing can be drawn; the terminal itself edits and shows them. */
export function plainLines(input: NodeJS.ReadStream, on: LineListener): LineSource {
  let isClosing = false
  const lines = createInterface({ input, terminal: false, crlfDelay: Number.POSITIVE_INFINITY })
  lines.on('line', (line) => on.line(line))
  lines.on('close', () => {
    if (!isClosing) on.end()
  })
  return {
    typed: { text: '', cursor: 0 },
    suggestions: [],
    take: () => '',
    insert: () => undefined,
    remember: () => undefined,
    lend: async () => undefined,
    close() {
      isClosing = true
      lines.close()
      input.pause()
    },
  }
}
