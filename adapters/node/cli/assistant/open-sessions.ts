import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Which sessions are open in a phi, as empty-handed as a note on a door: a file per session and process in one directory. It locks nothing; who writes a
 * session is settled by its store.
 */
export class OpenSessions {
  readonly #directory: string
  #mine: string | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Says that this process is in a session, and no longer in the one before. Gives the ids of the other processes that are in it. */
  enter(sessionId: string): number[] {
    this.leave()
    const key = createHash('sha256').update(sessionId).digest('hex').slice(0, 32)
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      this.#mine = join(this.#directory, `${key}.${process.pid}`)
      writeFileSync(this.#mine, bornAt(process.pid), { mode: 0o600 })
      return this.#others(key)
    } catch {
      // A place that cannot be written keeps no sessions either, and says so.
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
    // Those that were killed have left theirs behind.
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

/** Whether the process that has this id now is the one that left the file. */
function isOf(path: string, pid: number): boolean {
  try {
    return readFileSync(path, 'utf8') === bornAt(pid)
  } catch {
    return false
  }
}

/** When a process began, where the system tells: ids are given anew. */
function bornAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Counted from behind the name, in which anything may stand.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
