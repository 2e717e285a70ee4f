import { findExecutable } from '../find-executable.ts'
import type { ProcessSpec } from '../process/run-process.ts'
import { type SandboxProfile, sandboxArguments } from './profile.ts'
import { requireBubblewrap, SandboxUnavailable } from './sandbox.ts'
import { seccompFilter } from './seccomp.ts'

/** What to start; the part of a `ProcessSpec` that depends on the sandbox. */
export type Launch = Pick<ProcessSpec, 'file' | 'args' | 'env' | 'inputs' | 'cwd' | 'mark' | 'maxProcesses'>

/** Processes at a time in one sandbox. */
export const maxProcesses = 1024

// KiB, except for the number of processes. The memory limit counts data, not address space: runtimes reserve far more than they use.
const limits = `ulimit -u ${maxProcesses} -f 1048576 -d 4194304 -c 0`

/** Runs `argv` in the sandbox. The environment goes through a descriptor, so bubblewrap itself has none and no process list shows it. */
export function sandboxed(profile: SandboxProfile, env: Record<string, string>, argv: readonly string[]): Launch {
  const settings = Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])
  const inputs: Uint8Array[] = [new TextEncoder().encode(settings.map((entry) => `${entry}\0`).join(''))]
  const args = ['--args', '3', ...sandboxArguments(profile)]
  const filter = seccompFilter()
  if (filter !== undefined) {
    args.push('--seccomp', '4')
    inputs.push(filter)
  }
  return { file: requireBubblewrap(), args: [...args, '--', ...argv], env: {}, inputs }
}

/** A command line inside the sandbox, with limits per process; the time limit of the whole is the caller's. */
export function sandboxedBash(profile: SandboxProfile, env: Record<string, string>, command: string, timeoutMs: number): Launch {
  const seconds = Math.max(10, Math.ceil(timeoutMs / 1000) * 2)
  const variables = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8', ...env }
  const argv = ['/bin/bash', '-c', `${limits} -t ${seconds}; exec /bin/bash -c "$1" bash`, 'bash', command]
  // Counted from outside as well: where this process is root, the kernel does not hold the sandbox's user to `ulimit -u`.
  return { ...sandboxed(profile, variables, argv), maxProcesses }
}

const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR']

/** A command line on the host itself, with four harmless variables of this process. */
export function unconfinedBash(root: string, env: Record<string, string>, command: string): Launch {
  const file = findExecutable('bash')
  if (file === undefined) throw new SandboxUnavailable('bash is not in PATH either')
  const variables: Record<string, string> = {}
  for (const name of inherited) {
    const value = process.env[name]
    if (value !== undefined) variables[name] = value
  }
  const id = crypto.randomUUID()
  return { file, args: ['-c', command, 'bash'], env: { ...variables, ...env, PHI_CORE_RUN: id }, cwd: root, mark: `PHI_CORE_RUN=${id}` }
}
