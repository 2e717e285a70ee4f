import { totalmem } from 'node:os'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  aPositiveNumber,
  aText,
  either,
  listOf,
  type OptionTable,
  oneOf,
  options as optionsOf,
  required,
  texts,
} from '../../../src/contract/shape/shape.ts'
import { type AgentTool, ConfigError } from '../../../src/index.ts'
import { type HostPrograms, hostProgram, hostPrograms } from '../policy/programs.ts'
import { type ProtectionOptions, protectionTable, type WorkspacePolicy, workspacePolicy } from '../policy/workspace-policy.ts'
import { canOpenControlGroup } from '../process/control-group.ts'
import { DenyList } from './deny/deny-list.ts'
import type { BashLimits } from './launch.ts'
import { requireSandbox, type Sandbox } from './sandbox.ts'

/** Options for `bashTool`: working directory, sandbox, limits and approval. */
export interface BashOptions extends ProtectionOptions {
  /** Working directory of commands, mounted at `/workspace` in the sandbox. */
  root: string
  /** Sandbox. `none` runs commands on the host with all rights of this process. Default: `bubblewrap`. */
  sandbox?: 'bubblewrap' | 'none'
  /** Timeout per command in milliseconds. Default: 120,000. */
  timeoutMs?: number
  /** Maximum bytes of stdout, and of stderr, to keep. Default: 262,144. */
  maxOutputBytes?: number
  /** Limits for all processes of one command together. The limits apply only in the sandbox. */
  limits?: BashLimits
  /**
   * Commands that `bash` rejects. The list prevents accidents; security comes from the sandbox and the approval. Default:
   * `defaultDenyPatterns`.
   *
   * - `rm -rf /` rejects `sudo rm -r -f /` and `sh -c "rm -fr //"`, but not `rm -rf /tmp/build`.
   * - An entry that is not a single command, such as `DROP TABLE` or `| sh`, matches as text. Spaces are ignored.
   * - A command line that cannot be parsed is rejected if it contains the text of an entry.
   */
  denyPatterns?: readonly string[]
  /** Whether commands need an approval: all commands, or depending on the arguments. Default: true. */
  needsApproval?: NonNullable<AgentTool['needsApproval']>
  /** Environment variables in addition to PATH, HOME, LANG and TMPDIR. */
  env?: Record<string, string>
  /** Absolute paths of host programs that replace the system defaults. */
  programs?: HostPrograms
}

export const bashTable: OptionTable<BashOptions> = {
  ...protectionTable,
  root: required(aText),
  sandbox: oneOf('bubblewrap', 'none'),
  timeoutMs: aPositiveNumber,
  maxOutputBytes: aPositiveNumber,
  limits: optionsOf<BashLimits>({ memoryBytes: aPositiveNumber, processes: aPositiveNumber, diskBytes: aPositiveNumber }),
  denyPatterns: listOf(aText),
  needsApproval: either(aFlag, aFunction),
  env: texts,
  programs: hostPrograms,
}
const bashOptions = optionsOf<BashOptions>(bashTable)

/** The default deny list of `bash`. */
export const defaultDenyPatterns: readonly string[] = ['rm -rf /', 'rm -rf /*', 'mkfs', 'dd if=', ':(){:|:&};:']

/** Describes how a `bash` tool confines commands on this machine, for display. */
export interface Confinement {
  readonly sandbox: 'bubblewrap' | 'none'
  /**
   * `controlGroup`: the kernel limits a command's memory and tasks. `watched`: this process polls every 100 ms and kills commands over the
   * limit.
   */
  readonly memory: 'controlGroup' | 'watched' | 'unbounded'
  /** Polled every 20 ms. With a control group, the kernel also limits tasks to four times `limits.processes`. */
  readonly processes: 'watched' | 'unbounded'
  /** Polled every 100 ms, because the kernel has no disk limit for a process group. */
  readonly disk: 'watched' | 'unbounded'
  /** One sentence per weakness in the confinement. Empty if there is none. */
  readonly warnings: readonly string[]
}

/** Validated options for a `bash` tool, and the programs found on this machine. */
export interface BashSettings
  extends Required<Omit<BashOptions, 'root' | 'sandbox' | 'programs' | 'limits' | 'denyPatterns' | keyof ProtectionOptions>> {
  policy: WorkspacePolicy
  denyList: DenyList
  /** `undefined` if commands run on the host. */
  sandbox: Sandbox | undefined
  limits: Required<BashLimits>
  /** The host shell, used without a sandbox. */
  bash: string
  confinement: Confinement
}

/** The shell that enters a control group. Every Linux has it at this path. */
export const groupShell = '/bin/sh'

const gibibyte = 2 ** 30

/** Validates the options for `bashTool` and locates the programs it needs. Throws the same errors as `bashTool`. */
export function bashSettings(options: BashOptions): BashSettings {
  checkOptions(options, bashOptions)
  const policy = workspacePolicy(options.root, options)
  const limits = limitsOf(options.limits)
  const settings = {
    policy,
    limits,
    timeoutMs: options.timeoutMs ?? 120_000,
    maxOutputBytes: options.maxOutputBytes ?? 262_144,
    denyList: new DenyList(options.denyPatterns ?? defaultDenyPatterns),
    needsApproval: options.needsApproval ?? true,
    env: options.env ?? {},
  }
  for (const name of ['timeoutMs', 'maxOutputBytes'] as const) checkPositive(name, settings[name])
  const unusable = Object.entries(settings.env).find(([name, value]) => name === '' || /[=\0]/.test(name) || value.includes('\0'))
  if (unusable !== undefined)
    throw new ConfigError(
      'invalidOption',
      `bashTool: env ${JSON.stringify(unusable[0])} is not a valid environment variable. Use letters, digits and _ in the name, and a string as value.`,
    )
  return { ...settings, ...placeOf(options, policy.root) }
}

function limitsOf({ memoryBytes, processes = 1024, diskBytes = 8 * gibibyte }: BashLimits = {}): Required<BashLimits> {
  const limits = { memoryBytes: memoryBytes ?? Math.min(8 * gibibyte, Math.floor(totalmem() / 2)), processes, diskBytes }
  for (const name of ['memoryBytes', 'processes', 'diskBytes'] as const) checkPositive(`limits.${name}`, limits[name])
  return limits
}

function checkPositive(name: string, value: number): void {
  if (!Number.isFinite(value) || value <= 0) throw new ConfigError('invalidOption', `bashTool: ${name} is ${value}; use a number above 0.`)
}

function placeOf(options: BashOptions, root: string): Pick<BashSettings, 'sandbox' | 'bash' | 'confinement'> {
  const kind = options.sandbox ?? 'bubblewrap'
  if (kind !== 'bubblewrap' && kind !== 'none')
    throw new ConfigError('invalidOption', `bashTool: sandbox is ${JSON.stringify(kind)}; use 'bubblewrap' or 'none'.`)
  if (kind === 'bubblewrap') return { sandbox: requireSandbox(root, options.programs), bash: groupShell, confinement: confined() }
  const bash = hostProgram('bash', root, options.programs?.bash)
  if (bash === undefined) {
    const advice = 'Install it, or set programs.bash'
    throw new ConfigError('invalidOption', `bashTool: no bash in the system directories outside the root. ${advice}.`)
  }
  const warnings = ['Commands run on the host with all rights of this process.']
  return {
    sandbox: undefined,
    bash,
    confinement: { sandbox: 'none', memory: 'unbounded', processes: 'unbounded', disk: 'unbounded', warnings },
  }
}

const rootWarning =
  'This process is root: commands write files as root, and a vulnerability in the kernel or bubblewrap would expose the whole machine. Run it as an unprivileged user.'

let hasGroups: boolean | undefined

function confined(): Confinement {
  hasGroups ??= canOpenControlGroup(groupShell)
  const warning =
    'Cannot create a control group, so memory is polled and a command may exceed its limit for a moment. Run as a service with delegated cgroups, or as root.'
  return {
    sandbox: 'bubblewrap',
    memory: hasGroups ? 'controlGroup' : 'watched',
    processes: 'watched',
    disk: 'watched',
    warnings: [...(hasGroups ? [] : [warning]), ...(process.getuid?.() === 0 ? [rootWarning] : [])],
  }
}
