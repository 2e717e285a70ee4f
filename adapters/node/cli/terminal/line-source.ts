import { createInterface } from 'node:readline'

/** Unsent input. */
export interface Typed {
  text: string
  cursor: number
  /** Replaces the prompt while the history is searched. */
  label?: string
}

/** A source of input lines. */
export interface LineSource {
  readonly typed: Typed
  /** Possible completions; Tab takes the first. */
  readonly suggestions: readonly string[]
  /** Clears the input and returns it. */
  take(): string
  /** Inserts text at the cursor. */
  insert(text: string): void
  /** Adds a line to the history, for the arrow keys and Ctrl-R. */
  remember(line: string): void
  /** Runs a program that takes the terminal; see `TerminalMode`. */
  lend(command: string, args: readonly string[]): Promise<number | undefined>
  close(): void
}

/** Keys with a meaning for the reader of lines. */
export type NamedKey = 'shiftTab' | 'editor' | 'pasteImage' | 'open'

/** Events of a line source. */
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
  /** The terminal has reported whether its background is light. */
  background?(isLight: boolean): void
  /** Nothing will come any more. */
  end(): void
  /** Something to tell the person. */
  note(text: string): void
}

/** Reads lines without drawing; the terminal itself edits and shows them. */
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
