import { readdirSync, readFileSync } from 'node:fs'

/**
 * Kills the sandbox that bubblewrap, process `pid`, has made, when more than `most` processes run in it; returns whether it did.
 *
 * What the sandbox's own `/proc` lists is counted. Its first process is killed, and with it, by the kernel, all others: faster than through
 * bubblewrap, which a flood keeps from running. Does nothing while there is no sandbox yet, or where it may not be read.
 */
export function killFlood(pid: number, most: number): boolean {
  try {
    const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ')
    if (first === '') return false
    const count = readdirSync(`/proc/${first}/root/proc`).filter((name) => /^\d+$/.test(name)).length
    if (count <= most) return false
    return process.kill(Number(first), 'SIGKILL')
  } catch {
    return false
  }
}
