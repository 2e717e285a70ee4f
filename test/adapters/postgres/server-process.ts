import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A program that serves until it is ended, and says where in the first line it prints. What it sends to its parent, `hear` gets. */
export class ServerProcess {
  readonly #child: ChildProcess
  readonly url: Promise<string>

  constructor(program: string, env: Record<string, string>, hear?: (message: never) => void) {
    const stdio: StdioOptions = ['ignore', 'pipe', 'inherit', ...(hear === undefined ? [] : ['ipc' as const])]
    const child = spawn(process.execPath, [program], { env: { ...process.env, ...env, PORT: '0' }, stdio })
    this.#child = child
    // What it may be is between the program and who starts it.
    if (hear !== undefined) child.on('message', (message) => hear(message as never))
    if (child.stdout === null) throw new Error('Its output is read.')
    const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${program} has ended before it listened.`)))
    const said = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line).replace(/\/sessions$/, ''))
    this.url = Promise.race([said, ended])
    this.url.catch(() => undefined)
    ended.catch(() => undefined)
  }

  get pid(): number | undefined {
    return this.#child.pid
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
