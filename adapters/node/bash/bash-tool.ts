import { type AgentTool, ConfigError, type JsonObject, PhiError, type ToolContext, ToolError, type ToolResult } from '../../../src/index.ts'
import { type ProcessEnd, runProcess } from '../process/run-process.ts'
import { realDirectory } from '../workspace/node-workspace.ts'
import { type Launch, maxProcesses, sandboxedBash, unconfinedBash } from './launch.ts'
import { LiveOutput } from './live-output.ts'
import { OutputBuffer } from './output-buffer.ts'
import { reserveProtected } from './reservation.ts'
import { requireBubblewrap } from './sandbox.ts'

/** Where the commands of `bashTool` run, how confined, and how long. */
export interface BashOptions {
  /** Directory the commands work in: `/workspace` inside the sandbox. */
  root: string
  /** Default `bubblewrap`. `none` runs commands on the host with all rights of this process. */
  sandbox?: 'bubblewrap' | 'none'
  /** Milliseconds per command. Default 120 000. */
  timeoutMs?: number
  /** Bytes kept of each of the two outputs. Default 262 144. */
  maxOutputBytes?: number
  /** Commands that contain one of these are refused: a guard against accidents, not against intent. Default `defaultDenyPatterns`. */
  denyPatterns?: readonly string[]
  /** Ask a person before each command, or as the arguments require. Default true. */
  needsApproval?: boolean | ((args: JsonObject) => boolean | Promise<boolean>)
  /** Variables the commands get beside PATH, HOME, LANG and TMPDIR. */
  env?: Record<string, string>
}

/** What `bash` refuses unless told otherwise. Source: reference/phi-core-0.10.md §5 "Tools". */
export const defaultDenyPatterns: readonly string[] = ['rm -rf /', 'rm -rf /*', 'mkfs', 'dd if=', ':(){:|:&};:']

type Settings = Required<BashOptions>

/**
 * The tool `bash`: runs a command line and gives the model its exit code and output.
 *
 * **Contract**
 * - On Linux a command runs in a bubblewrap sandbox: no network, no files of the host but its programs (read-only) and the workspace, none
 *   of this process's environment, 1,024 processes at a time, memory and file size limited per process. At the root of the workspace
 *   `.git`, `.vscode`, `.mcp.json` and shell start-up files are read-only, missing ones cannot be created; while a command runs, empty
 *   placeholders stand for them. A repository nested in the workspace is not protected that way.
 * - Throws `SandboxUnavailable` where that cannot be had, unless `sandbox` is `none`; then commands have all rights of this process, only
 *   its environment is withheld. Throws `ConfigError` `invalidOption` for a `root` that is no directory and for options out of range.
 * - On timeout and abort everything the command started is killed, and so is what it left in the background when it ends. Under `none` a
 *   process that leaves its group is found by its environment (Linux); one that clears that too survives.
 * - Any exit code is a result, not an error: `details` is `{ exit_code, success }`, -1 after a signal. Of each output the first and last
 *   half of `maxOutputBytes` are kept, in bounded memory. While the command runs, `ctx.update` gets the last 8 KiB.
 * - Rejects with `ToolError`: `failed` (denied, not startable, too many processes), `timeout`, `cancelled`, `invalidArguments`.
 *
 * Source: spec/27 "BashTool", reference/toolchain.md §6, reference/reliability.md §5, 1–18.
 */
export function bashTool(options: BashOptions): AgentTool {
  const settings = resolved(options)
  if (settings.sandbox === 'bubblewrap') requireBubblewrap()
  return {
    name: 'bash',
    label: 'Run command',
    description: descriptionOf(settings),
    parameters: {
      type: 'object',
      properties: { command: { type: 'string', description: 'The command line, run by bash' } },
      required: ['command'],
    },
    needsApproval: settings.needsApproval,
    // Ours strikes first and says so in words; the loop's is the net below.
    timeoutMs: settings.timeoutMs + 5_000,
    execute: (args, ctx) => execute(settings, args, ctx),
  }
}

function resolved(options: BashOptions): Settings {
  const settings: Settings = {
    root: realDirectory(options.root),
    sandbox: options.sandbox ?? 'bubblewrap',
    timeoutMs: options.timeoutMs ?? 120_000,
    maxOutputBytes: options.maxOutputBytes ?? 262_144,
    denyPatterns: options.denyPatterns ?? defaultDenyPatterns,
    needsApproval: options.needsApproval ?? true,
    env: options.env ?? {},
  }
  for (const name of ['timeoutMs', 'maxOutputBytes'] as const) {
    const value = settings[name]
    if (!Number.isFinite(value) || value <= 0)
      throw new ConfigError('invalidOption', `bashTool: ${name} is ${value}; use a number above 0.`)
  }
  const unusable = Object.entries(settings.env).find(([name, value]) => name === '' || /[=\0]/.test(name) || value.includes('\0'))
  if (unusable !== undefined)
    throw new ConfigError('invalidOption', `bashTool: env ${JSON.stringify(unusable[0])} cannot be an environment variable.`)
  return settings
}

function descriptionOf({ sandbox, timeoutMs }: Settings): string {
  const place =
    sandbox === 'bubblewrap'
      ? 'in a sandbox: no network, only /workspace (the working directory) and /tmp are writable, /tmp is empty each time'
      : 'in the working directory'
  return `Execute a bash command ${place}. Gives the exit code, stdout and stderr. Time limit ${timeoutMs / 1000} s; nothing keeps running afterwards.`
}

async function execute(settings: Settings, args: JsonObject, ctx: ToolContext): Promise<ToolResult> {
  const command = args.command
  if (typeof command !== 'string') throw new ToolError('invalidArguments', "Invalid arguments: missing 'command' parameter")
  const denied = settings.denyPatterns.find((pattern) => command.includes(pattern))
  if (denied !== undefined) {
    throw new ToolError('failed', `Command blocked by safety policy: contains '${denied}'. This pattern is denied for safety.`)
  }
  if (ctx.signal.aborted) throw new ToolError('cancelled', 'Cancelled')
  const stdout = new OutputBuffer(settings.maxOutputBytes)
  const stderr = new OutputBuffer(settings.maxOutputBytes)
  const live = new LiveOutput((text) => ctx.update({ content: [{ type: 'text', text }] }))
  const collect = (buffer: OutputBuffer) => (chunk: Uint8Array) => {
    buffer.push(chunk)
    live.push(chunk)
  }
  const end = await launched(settings, command, (launch) =>
    runProcess({ ...launch, timeoutMs: settings.timeoutMs, signal: ctx.signal, onStdout: collect(stdout), onStderr: collect(stderr) }),
  )
  if (end.reason === 'abort') throw new ToolError('cancelled', 'Cancelled')
  if (end.reason === 'timeout') throw new ToolError('timeout', `Command timed out after ${settings.timeoutMs / 1000}s`)
  if (end.reason === 'processes')
    throw new ToolError('failed', `Command started more than ${maxProcesses} processes at a time and was stopped`)
  return resultOf(end.exitCode, stdout.text(), stderr.text())
}

async function launched(settings: Settings, command: string, run: (launch: Launch) => Promise<ProcessEnd>): Promise<ProcessEnd> {
  const { root, env, timeoutMs } = settings
  try {
    if (settings.sandbox === 'none') return await run(unconfinedBash(root, env, command))
    const reservation = reserveProtected(root)
    try {
      return await run(sandboxedBash({ root, access: 'write', readOnlyNames: reservation.names }, env, command, timeoutMs))
    } finally {
      reservation.release()
    }
  } catch (error) {
    throw PhiError.isInstance(error)
      ? error
      : new ToolError('failed', `Failed to execute: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

function resultOf(exitCode: number, stdout: string, stderr: string): ToolResult {
  const output = stderr === '' ? stdout : `STDOUT:\n${stdout}\nSTDERR:\n${stderr}`
  return {
    content: [{ type: 'text', text: `Exit code: ${exitCode}\n${output}` }],
    details: { exit_code: exitCode, success: exitCode === 0 },
  }
}
