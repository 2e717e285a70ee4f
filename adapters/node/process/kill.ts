import { readdirSync, readFileSync } from 'node:fs'

/** Sends `signal` to the process group that `pid` leads. Does nothing when the group is gone. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal)
  } catch {
    // ESRCH: it ended by itself.
  }
}

/** Kills every process of this user whose environment starts with `mark` (`NAME=value`). Linux only; elsewhere it finds none. */
export function killMarked(mark: string): void {
  // One that is just being forked escapes a single pass; a bounded number of passes catches it.
  for (let pass = 0; pass < 10; pass++) {
    const found = processesWith('environ', (entries) => entries.includes(mark))
    if (found.length === 0) return
    for (const pid of found) killOne(pid)
  }
}

/** Ids of the processes whose NUL-separated `/proc/<id>/<file>` satisfies `matches`; those of other users are not seen. */
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
    // It ended by itself.
  }
}
