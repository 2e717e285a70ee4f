import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { quickProgram } from '../../support/quick-program.ts'

/** How processes of `killed-host.ts` are started. Call it where hooks may be set. */
export function hostProcesses(): (...args: readonly string[]) => HostProcess {
  const program = quickProgram(resolve('test/adapters/http/killed-host.ts'))
  return (...args) => new HostProcess(program.path, args)
}

/** One of them. */
export class HostProcess {
  readonly #child: ChildProcess
  readonly #said: string[] = []
  readonly #waiting = new Set<() => void>()
  #hasEnded = false

  constructor(program: string, args: readonly string[]) {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    const lines = createInterface({ input: child.stdout })
    lines.on('line', (line) => {
      this.#said.push(line)
      this.#wake()
    })
    lines.on('close', () => {
      this.#hasEnded = true
      this.#wake()
    })
  }

  /** The address of its sessions, once it has taken up what was left. Rejects where it ends before. */
  async url(): Promise<string> {
    return `http://127.0.0.1:${await this.#line((line) => Number(line) > 0)}`
  }

  /** Until it says this. Rejects as `url`. */
  async says(what: string): Promise<void> {
    await this.#line((line) => line === what)
  }

  /** Sends the signal, and waits for its end where `isLast`. Nothing where it has ended. */
  async signal(signal: 'SIGTERM' | 'SIGKILL', isLast = true): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    if (isLast) await gone
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  async #line(isMeant: (line: string) => boolean): Promise<string> {
    for (;;) {
      const found = this.#said.find(isMeant)
      if (found !== undefined) return found
      if (this.#hasEnded) throw new Error('The host has ended, and did not say it.')
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }
}
