import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { PhiError } from '../../../src/index.ts'
import { type HostPrograms, hostProgram, trialMs } from '../policy/programs.ts'
import { sandboxArguments } from './profile.ts'
import { seccompFilter } from './seccomp.ts'

/** Thrown if no sandbox can be built on this machine. Nothing was run. The message says what to install and how to opt out. */
export class SandboxUnavailable extends PhiError<'sandboxUnavailable'> {
  override readonly name = 'SandboxUnavailable'

  constructor(reason: string) {
    super(
      'sandboxUnavailable',
      `The bash tool needs a sandbox, but ${reason}. Install bubblewrap 0.8 or later (apt-get install bubblewrap), or run commands unconfined with bashTool({ sandbox: 'none' }).`,
    )
  }

  static override isInstance(value: unknown): value is SandboxUnavailable {
    return PhiError.isInstance(value) && value.name === 'SandboxUnavailable'
  }
}

/** Programs that a sandbox needs, located and tested once when a tool is created. */
export interface Sandbox {
  /** Absolute path of bubblewrap. */
  readonly program: string
  /** Absolute path of the bash that starts bubblewrap. */
  readonly shell: string
  readonly filter: Uint8Array
}

// Result of the first test per program: `undefined` if it works, otherwise the reason.
const probed = new Map<string, string | undefined>()

/**
 * Returns a working sandbox for a workspace at `root`. The first call runs bubblewrap once (about 10 ms) and caches the result.
 *
 * Throws `SandboxUnavailable` if bubblewrap is missing or does not work, or if the processor has no system-call filter.
 */
export function requireSandbox(root: string, programs: HostPrograms = {}): Sandbox {
  if (process.platform !== 'linux') throw new SandboxUnavailable('bubblewrap exists on Linux only')
  const filter = seccompFilter()
  if (filter === undefined) throw new SandboxUnavailable(`there is no system-call filter for the processor ${process.arch}`)
  const program = hostProgram('bwrap', root, programs.bwrap)
  if (program === undefined)
    throw new SandboxUnavailable(
      'bwrap is not in the system directories outside the root (PATH is ignored; set programs.bwrap to use another)',
    )
  const shell = hostProgram('bash', root, programs.bash)
  if (shell === undefined) throw new SandboxUnavailable('bash is not in the system directories outside the root')
  if (!probed.has(program)) probed.set(program, probe(program, filter))
  const failure = probed.get(program)
  if (failure !== undefined) throw new SandboxUnavailable(`bwrap does not work here (${failure})`)
  return { program, shell, filter }
}

function probe(program: string, filter: Uint8Array): string | undefined {
  // Versions before 0.8 lack required options and report that.
  const held = openSync('/usr/bin', 'r')
  const profile = { root: tmpdir(), access: 'read', readOnlyDescriptors: [{ path: '', descriptor: 3 }] } as const
  const args = [...sandboxArguments(profile), '--seccomp', '0', '--', '/bin/bash', '-c', 'exit 0']
  const result = spawnSync(program, args, { env: {}, input: filter, timeout: trialMs, stdio: ['pipe', 'pipe', 'pipe', held] })
  closeSync(held)
  if (result.status === 0) return undefined
  // Prefer stderr, because a program that exits before reading its input also causes an uninformative EPIPE.
  const complaint = result.stderr?.toString().trim().slice(0, 300)
  return complaint || (result.error?.message ?? `exit code ${result.status}`)
}
