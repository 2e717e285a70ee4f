import { createInterface } from 'node:readline'

/** Unsent input. */
export interface Typed {
  text: string
  cursor: number
  /** Replaces the prompt during a history search. */
  label?: string
}

/** A source of input lines. */
export interface LineSource {
  readonly typed: Typed
  /** Possible completions. Tab accepts the first. */
  readonly suggestions: readonly string[]
  /** Clears the input and returns it. */
  take(): string
  /** Inserts text at the cursor. */
  insert(text: string): void
  /** Adds a line to the history, for the arrow keys and Ctrl-R. */
  remember(line: string): void
  /** Runs a program that uses the terminal. See `TerminalMode`. */
  lend(command: string, args: readonly string[]): Promise<number | undefined>
  close(): void
}

/** Keys that the line reader handles. */
export type NamedKey = 'shiftTab' | 'editor' | 'pasteImage' | 'open'

/** Events of a line source. */
export interface LineListener {
  line(text: string): void
  /** Called on input, or when the terminal was returned. */
  change(): void
  /** Ctrl-C. */
  interrupt(): void
  /** The escape key. */
  escape(): void
  /** Shift-Tab, Ctrl-G, Ctrl-V, Ctrl-O. */
  named?(key: NamedKey): void
  /** Called when the terminal has reported whether its background is light. */
  background?(isLight: boolean): void
  /** Called at the end of the input. */
  end(): void
  /** Called with a message for the user. */
  note(text: string): void
}

/** Reads lines without drawing. The terminal itself edits and displays them. */
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
