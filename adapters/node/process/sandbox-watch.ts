import { readdirSync, readFileSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

/** Limits for a sandbox, polled from outside. A sandbox over a limit is killed immediately. */
export interface WatchLimits {
  /** Maximum concurrent processes. */
  processes: number
  /** Maximum memory of all processes in bytes. Absent if the kernel limits it. */
  memory?: number
  /** Minimum free space in the file system of `path`. */
  disk: { path: string; least: Room }
}

/** Free space in a file system. */
export interface Room {
  bytes: number
  /** Number of files that can still be created, or 0 if the file system does not count them. */
  files: number
}

/** The limit that was exceeded. */
export type Excess = 'processes' | 'memory' | 'disk'

// Milliseconds between process count checks. Memory and disk are checked less often.
const watchMs = 20
const slowLook = 5
const pageBytes = 4096

/**
 * Watches the sandbox that bubblewrap (process `pid`) creates. If a limit is exceeded, kills the sandbox's first process, which makes the
 * kernel kill all others. Then calls `onExcess` once. The caller must clear the returned timer.
 *
 * Counts nothing if there is no sandbox, or if the sandbox cannot be read.
 */
export function watchSandbox(pid: number, limits: WatchLimits, onExcess: (which: Excess) => void): ReturnType<typeof setInterval> {
  let look = 0
  const excess = (which: Excess, first: string) => {
    clearInterval(timer)
    kill(first)
    onExcess(which)
  }
  const timer = setInterval(() => {
    const first = firstProcess(pid)
    if (first === undefined) return
    const ids = processesIn(first)
    if (ids.length > limits.processes) return excess('processes', first)
    if (look++ % slowLook !== 0) return
    if (limits.memory !== undefined && memoryOf(first, ids) > limits.memory) return excess('memory', first)
    void roomIn(limits.disk.path).then((room) => {
      // The sandbox may have ended, and another process may have its id.
      const { bytes, files } = limits.disk.least
      if (room !== undefined && (room.bytes < bytes || room.files < files) && firstProcess(pid) === first) excess('disk', first)
    })
  }, watchMs)
  return timer
}

/** `undefined` if the file system does not report it. */
async function roomIn(path: string): Promise<Room | undefined> {
  return statfs(path).then(
    ({ bavail, bsize, ffree }) => ({ bytes: bavail * bsize, files: ffree }),
    () => undefined,
  )
}

/** Returns the host's id of the sandbox's first process. */
function firstProcess(pid: number): string | undefined {
  return attempt(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ')[0]) || undefined
}

/**
 * Lists the processes in the sandbox's `/proc`. Empty while the first process still has the host's root, and therefore the host's `/proc`.
 */
function processesIn(first: string): string[] {
  const proc = `/proc/${first}/root/proc`
  return attempt(() => (isHosts(proc) ? [] : readdirSync(proc).filter((name) => /^\d+$/.test(name)))) ?? []
}

function isHosts(proc: string): boolean {
  return statSync(proc).dev === statSync('/proc').dev
}

/** Returns the resident memory that is not backed by a file. */
function memoryOf(first: string, ids: readonly string[]): number {
  const pages = ids.map((id) => {
    const [, resident = 0, shared = 0] = (attempt(() => readFileSync(`/proc/${first}/root/proc/${id}/statm`, 'latin1')) ?? '')
      .split(' ')
      .map(Number)
    return resident - shared
  })
  return pages.reduce((sum, count) => sum + count, 0) * pageBytes
}

function kill(first: string): void {
  attempt(() => process.kill(Number(first), 'SIGKILL'))
}

/** Returns the value of `read`, or `undefined` if the process has exited or is not accessible. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
