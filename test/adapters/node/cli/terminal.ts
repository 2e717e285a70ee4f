import type { IPty } from '@lydell/node-pty'
import { onTestFailed, onTestFinished } from 'vitest'
import { directory, environment, program } from './command.ts'
import { VirtualTerminal } from './virtual-terminal.ts'

type Pty = typeof import('@lydell/node-pty')

/** Real pseudo-terminals; undefined where they cannot be had, which is said aloud. */
export const pty: Pty | undefined = await import('@lydell/node-pty').catch((error: unknown) => {
  console.warn(`SKIPPED: the command is not tested in a terminal, @lydell/node-pty cannot be loaded here: ${String(error)}`)
  return undefined
})

/** The command in a terminal. */
export interface Terminal {
  /** What it shows. */
  readonly screen: VirtualTerminal
  /** All it has written. */
  readonly raw: string
  readonly pid: number
  type(keys: string): void
  /** Resolves when the screen says so; rejects with the screen when the command ends before. */
  shows(pattern: RegExp | string): Promise<void>
  resize(columns: number, rows: number): void
  kill(signal: string): void
  /** The exit code; undefined after a signal. */
  readonly ended: Promise<number | undefined>
}

/** How the command is run. */
export interface TerminalOptions {
  env?: Record<string, string>
  cwd?: string
  columns?: number
  rows?: number
  /** Another program to run in place of the command: a shell, in which the command is then begun. */
  file?: string
}

/** Runs the command in a pseudo-terminal; what is left of it is killed when the test is over. */
export function inTerminal(args: readonly string[], options: TerminalOptions = {}): Terminal {
  if (pty === undefined) throw new Error('There is no pseudo-terminal here.')
  const { env = environment(), cwd = directory(), columns = 100, rows = 40, file = process.execPath } = options
  const child: IPty = pty.spawn(file, file === process.execPath ? [program, ...args] : [...args], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    cwd,
    env,
  })
  const screen = new VirtualTerminal(columns)
  const waiting = new Set<() => void>()
  let raw = ''
  let fault: unknown
  let hasEnded = false
  child.onData((chunk) => {
    raw += chunk
    try {
      screen.write(chunk)
    } catch (error) {
      fault ??= error
    }
    for (const look of waiting) look()
  })
  const ended = new Promise<number | undefined>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      hasEnded = true
      resolve(signal ? undefined : exitCode)
      for (const look of waiting) look()
    })
  })
  onTestFailed(() => console.error(screen.text))
  onTestFinished(async () => {
    if (!hasEnded) child.kill('SIGKILL')
    await ended
    if (fault !== undefined) throw fault
  })
  return {
    screen,
    get raw() {
      return raw
    },
    pid: child.pid,
    type: (keys) => child.write(keys),
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const isThere = typeof pattern === 'string' ? screen.text.includes(pattern) : pattern.test(screen.text)
          if (!isThere && !hasEnded && fault === undefined) return
          waiting.delete(look)
          if (isThere) resolve()
          else reject(fault ?? new Error(`It ended without showing ${String(pattern)}:\n${screen.text}`))
        }
        waiting.add(look)
        look()
      }),
    resize: (newColumns, newRows) => child.resize(newColumns, newRows),
    kill: (signal) => child.kill(signal),
    ended,
  }
}
