import { readdirSync, readFileSync } from 'node:fs'

/** Sends `signal` to the process group that `pid` leads. Does nothing if the group has exited. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal)
  } catch {
    // ESRCH: the group has already exited.
  }
}

/**
 * Kills every process of this user whose environment starts with `mark` (`NAME=value`). Works only on Linux. Finds no processes on other
 * systems.
 */
export function killMarked(mark: string): void {
  // Repeat a bounded number of times, because a single pass misses processes that are being forked.
  for (let pass = 0; pass < 10; pass++) {
    const found = processesWith('environ', (entries) => entries.includes(mark))
    if (found.length === 0) return
    for (const pid of found) killOne(pid)
  }
}

/** Returns the ids of this user's processes whose NUL-separated `/proc/<id>/<file>` satisfies `matches`. */
export function processesWith(file: 'environ' | 'cmdline', matches: (entries: string[]) => boolean): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && matches(procEntries(pid, file)))
}

function procEntries(pid: number, file: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').split('\0')
  } catch {
    return []
  }
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already exited.
  }
}
