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
import { ConfigError, type JsonObject } from '../../../src/index.ts'
import { type HostPrograms, hostProgram, hostPrograms } from '../policy/programs.ts'
import { type ProtectionOptions, protectionTable, type WorkspacePolicy, workspacePolicy } from '../policy/workspace-policy.ts'
import { canOpenControlGroup } from '../process/control-group.ts'
import { DenyList } from './deny/deny-list.ts'
import type { BashLimits } from './launch.ts'
import { requireSandbox, type Sandbox } from './sandbox.ts'

/** Where the commands of `bashTool` run, how confined, and how long. */
export interface BashOptions extends ProtectionOptions {
  /** Directory the commands work in: `/workspace` inside the sandbox. */
  root: string
  /** Default `bubblewrap`. `none` runs commands on the host with all rights of this process. */
  sandbox?: 'bubblewrap' | 'none'
  /** Milliseconds per command. Default 120 000. */
  timeoutMs?: number
  /** Bytes kept of each of the two outputs. Default 262 144. */
  maxOutputBytes?: number
  /** What the processes of one command may use together, in the sandbox. */
  limits?: BashLimits
  /**
   * Commands that `bash` refuses: a seat belt against accidents, not a wall. The sandbox and the approval are the wall. Default `defaultDenyPatterns`.
   *
   * - `rm -rf /` refuses `sudo rm -r -f /` and `sh -c "rm -fr //"`, but not `rm -rf /tmp/build`.
   * - An entry that is no single command, such as `DROP TABLE` or `| sh`, is looked for as text, without regard to spaces.
   * - A command line that is not understood is refused if it contains the text of an entry.
   */
  denyPatterns?: readonly string[]
  /** Ask a person before each command, or as the arguments require. Default true. */
  needsApproval?: boolean | ((args: JsonObject) => boolean | Promise<boolean>)
  /** Variables the commands get beside PATH, HOME, LANG and TMPDIR. */
  env?: Record<string, string>
  /** Programs of the host to use in place of the system's own. */
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

/** What `bash` refuses unless told otherwise. */
export const defaultDenyPatterns: readonly string[] = ['rm -rf /', 'rm -rf /*', 'mkfs', 'dd if=', ':(){:|:&};:']

/** How the commands of a `bash` tool are confined on this machine, to be shown to a person. */
export interface Confinement {
  readonly sandbox: 'bubblewrap' | 'none'
  /** `controlGroup`: the kernel bounds memory and tasks of a whole command. `watched`: this process looks every 100 ms, and kills. */
  readonly memory: 'controlGroup' | 'watched' | 'unbounded'
  /** Looked at every 20 ms; with a control group the kernel allows four times as many tasks at most. */
  readonly processes: 'watched' | 'unbounded'
  /** Looked at every 100 ms: no kernel bounds the disk of a group of processes. */
  readonly disk: 'watched' | 'unbounded'
  /** What is weaker here than it could be, as sentences; empty when nothing is. */
  readonly warnings: readonly string[]
}

/** The options of a `bash` tool, checked, and what was found on this machine when it was made. */
export interface BashSettings
  extends Required<Omit<BashOptions, 'root' | 'sandbox' | 'programs' | 'limits' | 'denyPatterns' | keyof ProtectionOptions>> {
  policy: WorkspacePolicy
  denyList: DenyList
  /** Undefined: commands run on the host. */
  sandbox: Sandbox | undefined
  limits: Required<BashLimits>
  /** The shell of the host, where there is no sandbox. */
  bash: string
  confinement: Confinement
}

/** The shell that enters a control group; every Linux has it there. */
export const groupShell = '/bin/sh'

const gibibyte = 2 ** 30

/** Throws what `bashTool` throws. */
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
    throw new ConfigError('invalidOption', `bashTool: env ${JSON.stringify(unusable[0])} cannot be an environment variable.`)
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
    const advice = 'programs.bash names another one'
    throw new ConfigError('invalidOption', `bashTool: bash is in no directory of the system outside the root; ${advice}.`)
  }
  const warnings = ['Commands run on the host with all rights of this process.']
  return {
    sandbox: undefined,
    bash,
    confinement: { sandbox: 'none', memory: 'unbounded', processes: 'unbounded', disk: 'unbounded', warnings },
  }
}

/** What it means that there is no user to lose the rights of. */
const rootWarning =
  'This process is root: what a command writes belongs to root, and a fault of the kernel or of bubblewrap would cost the whole machine. Run it as a user of its own.'

let hasGroups: boolean | undefined

function confined(): Confinement {
  hasGroups ??= canOpenControlGroup(groupShell)
  const warning =
    'No control group can be made here (run as a service with delegated cgroups, or as root): memory is bounded by watching, so for a moment a command may use more than its limit.'
  return {
    sandbox: 'bubblewrap',
    memory: hasGroups ? 'controlGroup' : 'watched',
    processes: 'watched',
    disk: 'watched',
    warnings: [...(hasGroups ? [] : [warning]), ...(process.getuid?.() === 0 ? [rootWarning] : [])],
  }
}
