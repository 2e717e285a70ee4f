import { type ChildProcess, spawn } from 'node:child_process'
import { delimiter, resolve } from 'node:path'

/** Ends a command that hangs. The longest takes 20 minutes, and on a busy machine half as long again. */
const timeoutMs = 2_400_000

/** What runs now, with what it has written: told when the whole is interrupted. */
const running = new Map<ChildProcess, Buffer[]>()

/**
 * Runs a command in a process group of its own, so that one that hangs leaves nothing behind. Resolves with its exit code and all that it
 * wrote: commands that run side by side are read one after the other.
 */
export async function runCommand(command: readonly string[], env: Record<string, string>): Promise<{ exitCode: number; output: string }> {
  const [program = '', ...flags] = command
  const path = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter)
  const child = spawn(program, flags, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: { ...process.env, PATH: path, ...env } })
  const written: Buffer[] = []
  running.set(child, written)
  child.stdout.on('data', (chunk: Buffer) => written.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => written.push(chunk))
  const timer = setTimeout(() => {
    written.push(Buffer.from(`\n${program} was stopped after ${timeoutMs / 1000} s.\n`))
    endGroup(child)
  }, timeoutMs)
  try {
    const exitCode = await new Promise<number>((done, reject) => {
      child.once('error', reject)
      child.once('exit', (code) => done(code ?? 1))
    })
    endGroup(child) // what the command started ends with it
    return { exitCode, output: Buffer.concat(written).toString() }
  } finally {
    clearTimeout(timer)
    running.delete(child)
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody of the group is left.
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const [child, written] of running) {
      endGroup(child)
      console.log(`\n── interrupted: ${child.spawnargs.join(' ')}\n${Buffer.concat(written)}`)
    }
    process.exit(130)
  })
}
