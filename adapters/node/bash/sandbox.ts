import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { PhiError } from '../../../src/index.ts'
import { findExecutable } from '../find-executable.ts'
import { sandboxArguments } from './profile.ts'
import { seccompFilter } from './seccomp.ts'

/** No sandbox can be built on this machine, so nothing was run. The message says what to install and how to opt out. */
export class SandboxUnavailable extends PhiError {
  declare readonly code: 'sandboxUnavailable'

  constructor(reason: string) {
    super(
      'sandboxUnavailable',
      `The bash tool needs a sandbox, and ${reason}. Install bubblewrap 0.8 or later (apt-get install bubblewrap), or run commands unconfined with bashTool({ sandbox: 'none' }).`,
    )
    this.name = 'SandboxUnavailable'
  }

  static override isInstance(value: unknown): value is SandboxUnavailable {
    return PhiError.isInstance(value) && value.name === 'SandboxUnavailable'
  }
}

// What a first try in this process said about a program: undefined where it works.
const probed = new Map<string, string | undefined>()

/**
 * The path of a bubblewrap that works here. The first call runs it once (about 10 ms); later calls remember.
 *
 * Throws `SandboxUnavailable`.
 */
export function requireBubblewrap(): string {
  const program = process.platform === 'linux' ? findExecutable('bwrap') : undefined
  if (program === undefined)
    throw new SandboxUnavailable(process.platform === 'linux' ? 'bwrap is not in PATH' : 'bubblewrap exists on Linux only')
  if (!probed.has(program)) probed.set(program, probe(program))
  const failure = probed.get(program)
  if (failure !== undefined) throw new SandboxUnavailable(`bwrap does not work here (${failure})`)
  return program
}

function probe(program: string): string | undefined {
  const filter = seccompFilter()
  const args = sandboxArguments({ root: tmpdir(), access: 'read' })
  if (filter !== undefined) args.push('--seccomp', '0')
  const result = spawnSync(program, [...args, '--', '/bin/bash', '-c', 'exit 0'], { env: {}, input: filter ?? '', timeout: 10_000 })
  if (result.status === 0) return undefined
  // What it says comes first: a program that ends before it reads its input makes writing fail too (EPIPE), which tells nothing.
  const said = result.stderr?.toString().trim().slice(0, 300)
  return said || (result.error?.message ?? `exit code ${result.status}`)
}
