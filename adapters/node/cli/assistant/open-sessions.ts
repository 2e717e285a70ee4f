import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Records which sessions are open in a phi process: one file per session and process. This is advisory only. The session store decides
 * which process may write.
 */
export class OpenSessions {
  readonly #directory: string
  #mine: string | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Records that this process has a session open, and no longer the previous one. Returns the ids of other processes that have it open. */
  enter(sessionId: string): number[] {
    this.leave()
    const key = createHash('sha256').update(sessionId).digest('hex').slice(0, 32)
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      this.#mine = join(this.#directory, `${key}.${process.pid}`)
      writeFileSync(this.#mine, bornAt(process.pid), { mode: 0o600 })
      return this.#others(key)
    } catch {
      // Ignore: an unwritable directory fails with a message when the session is stored.
      return []
    }
  }

  leave(): void {
    if (this.#mine !== undefined) rmSync(this.#mine, { force: true })
    this.#mine = undefined
  }

  #others(key: string): number[] {
    const names = readdirSync(this.#directory).filter((name) => /^[0-9a-f]{32}\.\d+$/.test(name))
    const found = names.map((name) => ({ path: join(this.#directory, name), isIt: name.startsWith(key), pid: Number(name.slice(33)) }))
    const others = found.filter(({ pid }) => pid !== process.pid)
    // Remove files of killed processes.
    for (const { path, pid } of others) if (!isRunning(pid)) rmSync(path, { force: true })
    return others.filter(({ isIt, path, pid }) => isIt && isRunning(pid) && isOf(path, pid)).map(({ pid }) => pid)
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Returns whether the running process with this id wrote the file. */
function isOf(path: string, pid: number): boolean {
  try {
    return readFileSync(path, 'utf8') === bornAt(pid)
  } catch {
    return false
  }
}

/** Returns the start time of a process if available, because ids are reused. */
function bornAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Count fields after the process name, which may contain any character.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
