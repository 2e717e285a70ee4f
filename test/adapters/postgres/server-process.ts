import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A program that serves until it is ended, and says where in the first line it prints. */
export class ServerProcess {
  readonly #child: ChildProcess
  readonly url: Promise<string>

  constructor(program: string, env: Record<string, string>) {
    const child = spawn(process.execPath, [program], { env: { ...process.env, ...env, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${program} has ended before it listened.`)))
    const said = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line).replace(/\/sessions$/, ''))
    this.url = Promise.race([said, ended])
    this.url.catch(() => undefined)
    ended.catch(() => undefined)
  }

  /** Sends the signal. Resolves with the end of the process, where it is one of those that end it. */
  async signal(signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    if (signal === 'SIGTERM' || signal === 'SIGKILL') await gone
  }
}
