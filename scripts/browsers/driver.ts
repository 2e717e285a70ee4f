import { type ChildProcess, spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A value that survives JSON: what goes into a page and comes out of it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** A browser that was started for tests. */
export interface DrivenBrowser {
  /** Name and version, for people. */
  version: string
  /** Cookies and databases of its own, as a person has who never was here. */
  newContext(): Promise<DrivenContext>
  /** Ends its processes and removes its files. */
  close(): Promise<void>
}

export interface DrivenContext {
  newTab(): Promise<DrivenTab>
  close(): Promise<void>
}

/** One tab. Clicks and keys take the way of real ones; `goto`, `reload` and `goBack` resolve once the page is loaded. */
export interface DrivenTab {
  goto(url: string): Promise<void>
  reload(): Promise<void>
  goBack(): Promise<void>
  /** Calls a function, given as source text, in the page; resolves with what it returns or resolves with, which is JSON. */
  evaluate(source: string, args?: readonly Json[]): Promise<unknown>
  /** Clicks at a point of the window, in CSS pixels. */
  click(x: number, y: number): Promise<void>
  /** Presses and releases keys in turn: characters, or the code points that WebDriver gives to keys such as Escape. */
  type(keys: string): Promise<void>
  /** Makes the page as large as this, in CSS pixels. */
  setViewportSize(width: number, height: number): Promise<void>
  /** What the page looks like, as a PNG. */
  screenshot(): Promise<Buffer>
  /**
   * Kills every process that shows pages, this one's among them, as the kernel does when memory runs out. Linux only. Absent in WebKit:
   * WebKitWebDriver then ends the session, and with it all that pages have stored.
   */
  crash?(): Promise<void>
}

/** How long a browser may take until it listens: a busy machine takes a multiple of the usual second. */
export const startTimeoutMs = 60_000

/** Starts a browser or a session of it, once more if it does not come up. What a test does is never tried twice. */
export async function startTwice<Started>(start: () => Promise<Started>): Promise<Started> {
  try {
    return await start()
  } catch (error) {
    console.warn(`${error instanceof Error ? error.message : error} Trying once more.`)
    return start()
  }
}

/** Programs that belong together, and a folder in which they keep their files. */
export class Processes {
  readonly folder = mkdtempSync(join(tmpdir(), 'phi-browser-'))
  readonly #children: ChildProcess[] = []

  constructor() {
    process.once('exit', this.#kill)
  }

  /** They stay in this process's group, so that who ends the group ends them too. File descriptor 3 can be read as `child.stdio[3]`. */
  spawn(program: string, flags: readonly string[], env: Record<string, string> = {}): ChildProcess {
    const child = spawn(program, flags, {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, HOME: this.folder, XDG_RUNTIME_DIR: this.folder, ...env },
    })
    child.on('error', () => undefined) // told by firstMatch()
    this.#children.push(child)
    return child
  }

  /** Ends one of them, and what it has started. Resolves when it is gone. */
  async end(child: ChildProcess): Promise<void> {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const below = descendants([child.pid])
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
    await ended
    clearTimeout(timer)
    for (const pid of below) killIfThere(pid)
  }

  /** Ends them, the youngest first, and removes their folder. */
  async close(): Promise<void> {
    for (const child of this.#children.toReversed()) await this.end(child)
    process.off('exit', this.#kill)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Kills the processes below these whose command line matches, and waits until they are gone. */
  async killBelow(pattern: RegExp): Promise<void> {
    const found = descendants(this.#children.flatMap(({ pid }) => pid ?? [])).filter((pid) => pattern.test(commandLine(pid)))
    if (found.length === 0) throw new Error(`There is no process ${pattern} to kill.`)
    for (const pid of found) process.kill(pid, 'SIGKILL')
    while (found.some((pid) => commandLine(pid) !== '')) await delay(10)
  }

  readonly #kill = (): void => {
    for (const child of this.#children) child.kill('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended with its parent.
  }
}

/** The processes that these have started, from any of their threads, and those have. */
function descendants(parents: readonly number[]): number[] {
  const lists = parents.flatMap((pid) => globSync(`/proc/${pid}/task/*/children`)).map(read)
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
  return children.length === 0 ? [] : [...children, ...descendants(children)]
}

/** Empty once the process is gone. */
const commandLine = (pid: number): string => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** What `pattern` captures in the output of a program that starts; the rest of the output is read and dropped. */
export function firstMatch(child: ChildProcess, stream: NodeJS.ReadableStream | null, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    const fail = (why: string): void => {
      clearTimeout(timer)
      reject(new Error(`${child.spawnfile} ${why}. ${output.slice(-500)}`.trim()))
    }
    const timer = setTimeout(() => fail(`was not ready within ${startTimeoutMs / 1000} s`), startTimeoutMs)
    child.once('error', (error) => fail(`did not start: ${error.message}`))
    child.once('exit', (code) => fail(`exited with ${code}`))
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk).slice(-10_000)
      const found = pattern.exec(output)?.[1]
      if (found === undefined) return
      clearTimeout(timer)
      resolve(found)
    })
  })
}
