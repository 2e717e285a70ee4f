import { spawn } from 'node:child_process'
import type { ReadStream } from 'node:tty'
import { bracketedPaste } from './paste.ts'

/** Terminal modes while lines are edited: bracketed paste, and Shift-Enter distinct from Enter. Restored in reverse order. */
const asked = { on: `${bracketedPaste.on}\x1b[>1u`, off: `\x1b[<u${bracketedPaste.off}` }

/**
 * Owns a terminal's mode.
 *
 * **Contract**
 * - Between `begin` and `end`, the terminal is in raw mode with bracketed paste. The mode is restored regardless of how the process ends.
 * - `stop` returns the terminal and stops the process group, like Ctrl-Z. The mode is set again when the group continues, even after an
 *   external stop or if stopping fails.
 * - `lend` passes the terminal to a child process and reclaims it afterwards.
 * - `onBack` is called when the terminal was reclaimed. Its content is then unknown.
 */
export class TerminalMode {
  readonly #input: ReadStream
  readonly #control: NodeJS.WriteStream
  readonly #onBack: () => void
  #isOn = false
  #isLent = false
  readonly #giveBack = (): void => this.#off()
  readonly #continued = (): void => this.#on()

  constructor(input: ReadStream, control: NodeJS.WriteStream, onBack: () => void) {
    this.#input = input
    this.#control = control
    this.#onBack = onBack
  }

  begin(): void {
    this.#isOn = true
    this.#set(true)
    process.on('exit', this.#giveBack)
    process.on('SIGCONT', this.#continued)
  }

  end(): void {
    process.off('exit', this.#giveBack)
    process.off('SIGCONT', this.#continued)
    this.#off()
    this.#isOn = false
  }

  /** Stops this process and its group until it is continued. */
  stop(): void {
    if (process.platform === 'win32') return
    this.#off()
    // Signal the group, like the terminal itself, because a parent program waits for it.
    process.kill(0, 'SIGTSTP')
    // Reached immediately if the system does not stop an orphaned group. Otherwise, reached after SIGCONT.
    setImmediate(() => this.#on())
  }

  /** Runs a program that uses the terminal. Resolves with its exit code, or `undefined` if it could not start or was killed. */
  async lend(command: string, args: readonly string[]): Promise<number | undefined> {
    this.#off()
    this.#isLent = true
    this.#input.pause()
    // Ctrl-C is handled by the child.
    const ignore = (): void => undefined
    process.on('SIGINT', ignore)
    try {
      return await new Promise((resolve) => {
        const child = spawn(command, args, { stdio: 'inherit' })
        child.on('error', () => resolve(undefined))
        child.on('exit', (code) => resolve(code ?? undefined))
      })
    } finally {
      process.off('SIGINT', ignore)
      this.#isLent = false
      this.#on()
      this.#input.resume()
    }
  }

  #on(): void {
    if (!this.#isOn || this.#isLent) return
    this.#set(true)
    this.#onBack()
  }

  #off(): void {
    if (this.#isOn && !this.#isLent) this.#set(false)
  }

  /** Ignores errors of a closed terminal. */
  #set(isRaw: boolean): void {
    try {
      // Set the mode even if Node considers it set, because another program may have changed it.
      if (isRaw) this.#input.setRawMode(false)
      this.#input.setRawMode(isRaw)
    } catch {
      // The next read reports the error.
    }
    if (this.#control.writable) this.#control.write(isRaw ? asked.on : asked.off)
  }
}
