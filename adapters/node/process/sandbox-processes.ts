import { readdirSync, readFileSync } from 'node:fs'

/**
 * How many processes run inside the sandbox that bubblewrap, process `pid`, has made: what the sandbox's own `/proc` lists. 0 while it is
 * not there yet, and where it may not be read.
 */
export function sandboxProcesses(pid: number): number {
  try {
    const [init = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ')
    return init === '' ? 0 : readdirSync(`/proc/${init}/root/proc`).filter((name) => /^\d+$/.test(name)).length
  } catch {
    return 0
  }
}
