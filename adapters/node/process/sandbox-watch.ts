import { readdirSync, readFileSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

/** Limits of a sandbox, polled from outside; beyond them it is killed at once. */
export interface WatchLimits {
  /** Processes at a time. */
  processes: number
  /** Bytes of memory of all processes together; absent where the kernel bounds them. */
  memory?: number
  /** Minimum free space in the file system of `path`. */
  disk: { path: string; least: Room }
}

/** Room in a file system. */
export interface Room {
  bytes: number
  /** Files that can still be made; 0 where the file system does not count them. */
  files: number
}

/** Which of the limits was exceeded. */
export type Excess = 'processes' | 'memory' | 'disk'

// Milliseconds between two looks at the number of processes; memory and disk are looked at less often.
const watchMs = 20
const slowLook = 5
const pageBytes = 4096

/**
 * Watches the sandbox that bubblewrap, process `pid`, makes; calls `onExcess` once, after its first process was killed, and with it, by the
 * kernel, all others. The caller clears the timer that this returns.
 *
 * Counts nothing without a sandbox, or if it cannot be read.
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
      // The sandbox may have ended, and its process id may belong to another process.
      const { bytes, files } = limits.disk.least
      if (room !== undefined && (room.bytes < bytes || room.files < files) && firstProcess(pid) === first) excess('disk', first)
    })
  }, watchMs)
  return timer
}

/** Undefined when the file system does not say. */
async function roomIn(path: string): Promise<Room | undefined> {
  return statfs(path).then(
    ({ bavail, bsize, ffree }) => ({ bytes: bavail * bsize, files: ffree }),
    () => undefined,
  )
}

/** The process in which the sandbox begins, as the host counts. */
function firstProcess(pid: number): string | undefined {
  return attempt(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ')[0]) || undefined
}

/** Lists the processes of the sandbox's own `/proc`; none while its first process still has the root of the host, and with it the host's `/proc`. */
function processesIn(first: string): string[] {
  const proc = `/proc/${first}/root/proc`
  return attempt(() => (isHosts(proc) ? [] : readdirSync(proc).filter((name) => /^\d+$/.test(name)))) ?? []
}

function isHosts(proc: string): boolean {
  return statSync(proc).dev === statSync('/proc').dev
}

/** Resident memory that belongs to no file. */
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

/** The value of `read`, or undefined when the process is gone or may not be seen. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
