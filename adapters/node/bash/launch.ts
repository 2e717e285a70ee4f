import { statfsSync } from 'node:fs'
import { enteringArguments } from '../process/control-group.ts'
import type { ProcessSpec } from '../process/run-process.ts'
import type { Room } from '../process/sandbox-watch.ts'
import { type SandboxProfile, sandboxArguments } from './profile.ts'
import type { Sandbox } from './sandbox.ts'

/** The part of a `ProcessSpec` that depends on the sandbox. */
export type Launch = Pick<ProcessSpec, 'file' | 'args' | 'env' | 'inputs' | 'descriptors' | 'cwd' | 'mark' | 'watch'>

/** Limits for all processes of one command together. */
export interface BashLimits {
  /** Maximum memory in bytes. Default: half of the machine's memory, at most 8 GiB. */
  memoryBytes?: number
  /** Maximum concurrent processes. Default: 1,024. */
  processes?: number
  /** Maximum decrease in free disk space in bytes, at most half of the free space. Default: 8 GiB. */
  diskBytes?: number
}

// `ulimit` values in KiB, except for the number of processes. The memory limit counts data instead of address space, because runtimes
// reserve far more than they use.
const perProcess = (processes: number) => `ulimit -u ${processes} -f 1048576 -d 4194304 -c 0`

// Maximum new files per command, which are all scanned when the command ends.
const mostFiles = 1_000_000

/** First inherited descriptor, after the three standard descriptors and one per input. */
export const firstInherited = 5

/**
 * Runs `argv` in the sandbox. The environment is passed through a descriptor, so no process list shows it.
 * `inherited` are descriptors of this process, numbered from `firstInherited` in the profile.
 */
export function sandboxed(
  sandbox: Sandbox,
  profile: SandboxProfile,
  env: Record<string, string>,
  argv: readonly string[],
  inherited: readonly number[] = [],
): Launch {
  const settings = Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])
  const inputs: Uint8Array[] = [new TextEncoder().encode(settings.map((entry) => `${entry}\0`).join('')), sandbox.filter]
  const args = ['--args', '3', ...sandboxArguments(profile), '--seccomp', '4', '--', ...argv]
  const first = String(firstInherited + inherited.length)
  return {
    file: sandbox.shell,
    args: ['-c', closeOthers, 'bash', first, sandbox.program, ...args],
    env: {},
    inputs,
    descriptors: inherited,
  }
}

/**
 * Closes all inherited descriptors except the listed ones, because an open descriptor of a parent process would lead out of the sandbox.
 * `exec -c` clears the variables that the shell sets.
 */
const closeOthers =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: for the shell
  'first=$1; shift; for path in /proc/self/fd/*; do number=${path##*/}; [ "$number" -lt "$first" ] || eval "exec $number>&-"; done; exec -c "$@"'

/** A command in the sandbox, without its profile. */
export interface SandboxedCommand {
  command: string
  env: Record<string, string>
  timeoutMs: number
  limits: Required<BashLimits>
  /** Control group files to write 0 to, so that the kernel applies the limits. Empty if this process polls. */
  entrances: readonly string[]
  /** The shell that enters the control group. */
  shell: string
  inherited: readonly number[]
}

/** Builds the launch of a command line in the sandbox, with limits per process and per command. The caller applies the timeout. */
export function sandboxedBash(sandbox: Sandbox, profile: SandboxProfile, options: SandboxedCommand): Launch {
  const { command, timeoutMs, limits, entrances, inherited } = options
  const seconds = Math.min(2 ** 31 - 1, Math.max(10, Math.ceil(timeoutMs / 1000) * 2))
  const variables = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8', ...options.env }
  const argv = ['/bin/bash', '-c', `${perProcess(limits.processes)} -t ${seconds}; exec /bin/bash -c "$1" bash`, 'bash', command]
  const launch = sandboxed(sandbox, profile, variables, argv, inherited)
  const isBounded = entrances.length > 0
  const watch = {
    // If this process is root, the kernel does not apply `ulimit -u` to the sandbox's user.
    processes: limits.processes,
    ...(isBounded ? {} : { memory: limits.memoryBytes }),
    disk: { path: profile.root, least: leastRoom(profile.root, limits.diskBytes) },
  }
  if (!isBounded) return { ...launch, watch }
  return { ...launch, watch, file: options.shell, args: [...enteringArguments(entrances), launch.file, ...launch.args] }
}

/** Free space that a command must leave: at least half of the current free space. */
function leastRoom(path: string, bytes: number): Room {
  const { bavail, bsize, ffree } = statfsSync(path)
  return { bytes: bavail * bsize - Math.min(bytes, (bavail * bsize) / 2), files: ffree - Math.min(mostFiles, ffree / 2) }
}

const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR']

/** Builds the launch of a command line on the host, with four harmless variables of this process. */
export function unconfinedBash(bash: string, root: string, env: Record<string, string>, command: string): Launch {
  const variables: Record<string, string> = {}
  for (const name of inherited) {
    const value = process.env[name]
    if (value !== undefined) variables[name] = value
  }
  const id = crypto.randomUUID()
  return {
    file: bash,
    args: ['-c', command, 'bash'],
    env: { ...variables, ...env, PHI_CORE_RUN: id },
    cwd: root,
    mark: `PHI_CORE_RUN=${id}`,
  }
}
