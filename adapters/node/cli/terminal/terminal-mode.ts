import { spawn } from 'node:child_process'
import type { ReadStream } from 'node:tty'
import { bracketedPaste } from './paste.ts'

/** What is asked of a terminal while lines are edited: to tell what is pasted, and Shift-Enter from Enter. Both are taken back in the other order. */
const asked = { on: `${bracketedPaste.on}\x1b[>1u`, off: `\x1b[<u${bracketedPaste.off}` }

/**
 * The one owner of a terminal's mode.
 *
 * **Contract**
 * - Between `begin` and `end` the terminal is raw, and tells what is pasted. However the process ends, that is taken back.
 * - `stop` gives the terminal back and stops the process group, as Ctrl-Z does elsewhere. Whoever continues it, or has stopped it from outside, finds
 *   the mode as it was; so it is where the system refuses to stop.
 * - `lend` gives it to a child, and takes it back when the child has ended.
 * - `onBack` is called when the terminal is ours again, and may show anything by then.
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

  /** Stops this process and its group until somebody continues it. */
  stop(): void {
    if (process.platform === 'win32') return
    this.#off()
    // To the group, as the terminal itself would do: whoever has started us through another program waits for that one.
    process.kill(0, 'SIGTSTP')
    // Reached at once where the system does not stop a group that nobody could continue; else after SIGCONT.
    setImmediate(() => this.#on())
  }

  /** Runs a program that takes the terminal. Resolves with its exit code; `undefined` where it could not be started, or was killed. */
  async lend(command: string, args: readonly string[]): Promise<number | undefined> {
    this.#off()
    this.#isLent = true
    this.#input.pause()
    // Ctrl-C is the child's.
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

  /** A terminal that has gone has no mode. */
  #set(isRaw: boolean): void {
    try {
      // Said anew even where Node believes that it is so: whoever had the terminal meanwhile may have changed it.
      if (isRaw) this.#input.setRawMode(false)
      this.#input.setRawMode(isRaw)
    } catch {
      // The next read says so.
    }
    if (this.#control.writable) this.#control.write(isRaw ? asked.on : asked.off)
  }
}
