import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { builtCommand } from '../../../harness/fresh-build.ts'

/** The command as it is published, a file that Node runs. */
export const program = builtCommand()

/** A directory that is gone when the test is over. */
export function directory(name = 'phi-cli-'): string {
  const path = mkdtempSync(join(tmpdir(), name))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** The environment of a command: nothing of ours but the path and where Node keeps compiled code, and a home for its sessions. */
export function environment(env: Record<string, string> = {}): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE, TERM: 'xterm-256color', PHI_HOME: directory('phi-home-'), ...env }
}

/** What a command that ran through pipes left. */
export interface Piped {
  stdout: string
  stderr: string
  code: number | null
}

/** How a command is run through pipes. */
export interface PipeOptions {
  /** What is piped in; nothing, and the end, by default. */
  input?: string | Buffer
  env?: Record<string, string>
  cwd?: string
  /** A file or device that standard output goes to, in place of a pipe. */
  stdout?: string
  /** Sees what it has written so far. */
  watch?: (so: { stdout: string; stderr: string }, child: ChildProcess) => void
}

/** Runs the command with pipes in place of a terminal, to its end. */
export function piped(
  args: readonly string[],
  { input = '', env = environment(), cwd = directory(), stdout, watch }: PipeOptions = {},
): Promise<Piped> {
  return new Promise((done) => {
    const out = stdout === undefined ? 'pipe' : openSync(stdout, 'w')
    const child = spawn(process.execPath, [program, ...args], { env, cwd, stdio: ['pipe', out, 'pipe'] })
    if (typeof out === 'number') closeSync(out)
    const so = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
        so[name] += chunk
        watch?.(so, child)
      })
    }
    child.on('close', (code) => done({ ...so, code }))
    // It may have ended without reading.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}
