import { errorText } from '../../../src/contract/errors.ts'
import { type AgentTool, type JsonObject, PhiError, type ToolContext, ToolError, type ToolResult } from '../../../src/index.ts'
import { escapeControls } from '../../../src/store.ts'
import { openControlGroup } from '../process/control-group.ts'
import { type ProcessEnd, runProcess } from '../process/run-process.ts'
import { type BashOptions, type BashSettings, bashSettings, type Confinement, groupShell } from './bash-settings.ts'
import type { Denial } from './deny/deny-list.ts'
import { firstInherited, type Launch, sandboxedBash, unconfinedBash } from './launch.ts'
import { LiveOutput } from './live-output.ts'
import { OutputBuffer } from './output-buffer.ts'
import { beforeCommand, undoPlanted } from './planted.ts'
import { reserveProtected } from './reservation.ts'
import type { Sandbox } from './sandbox.ts'

/** The `bash` tool, with a description of its confinement. */
export interface BashTool extends AgentTool {
  readonly confinement: Confinement
}

/**
 * Creates the `bash` tool, which runs a command line and returns its exit code and output to the model.
 *
 * **Contract**
 * - Sandbox: on Linux a command runs in bubblewrap, without network, Unix sockets or the environment of this process. It sees the workspace
 *   and the host's programs (read-only). `limits` bounds memory, processes and disk; `confinement` describes how strictly.
 * - Protected files: the names that `nodeWorkspace` protects, this package, its dependencies and their lock file are read-only.
 *   At the root, missing protected names cannot be created. Empty placeholders take their place while a command runs. Below the root, a
 *   protected name that a command created, or the `HEAD` of a new git directory, is renamed after the command.
 * - Throws `SandboxUnavailable` if no sandbox can be built, unless `sandbox` is `none`. Commands then have all rights of this process, but
 *   not its environment.
 * - Throws `ConfigError` `invalidOption` for an unusable `root` or program, and for options out of range.
 * - Host programs are resolved once, when the tool is created, and never through `PATH`.
 * - A timeout or an abort kills all processes of the command. Background processes are killed when the command ends. With `none`, a process
 *   that leaves its group is found by its environment (Linux), unless it also clears its environment.
 * - Every exit code is a result, not an error. `details` is `{ exit_code, success }` (-1 after a signal) and `renamed`, the first 20
 *   renamed paths.
 * - Keeps the first and last half of `maxOutputBytes` of each output. While the command runs, `ctx.update` receives the last 8 KiB.
 * - After a timeout, an abort or a limit, the error message contains the bounded output so far and the renamed paths.
 * - Rejects with `ToolError`: `failed` (denied, cannot start, too many processes, too much memory or disk), `timeout`, `cancelled`,
 *   `invalidArguments`.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function bashTool(options: BashOptions): BashTool {
  const settings = bashSettings(options)
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
    // The tool's own timeout fires first with a better message. The loop's timeout is the fallback.
    timeoutMs: settings.timeoutMs + 5_000,
    endsOnAbort: true,
    confinement: settings.confinement,
    execute: (args, ctx) => execute(settings, args, ctx),
  }
}

function descriptionOf({ sandbox, timeoutMs }: BashSettings): string {
  const place =
    sandbox === undefined
      ? 'in the working directory'
      : 'in a sandbox: no network, only /workspace (the working directory) and /tmp are writable, /tmp is empty each time'
  return `Execute a bash command ${place}. Returns the exit code, stdout and stderr. Time limit: ${timeoutMs / 1000} s. No process keeps running afterwards.`
}

async function execute(settings: BashSettings, args: JsonObject, ctx: ToolContext): Promise<ToolResult> {
  const command = args.command
  if (typeof command !== 'string') throw new ToolError('invalidArguments', "Invalid arguments: missing 'command' parameter")
  const denial = settings.denyList.denialOf(command)
  if (denial !== undefined) throw blockedBy(denial)
  if (ctx.signal.aborted) throw new ToolError('cancelled', 'Cancelled')
  const stdout = new OutputBuffer(settings.maxOutputBytes)
  const stderr = new OutputBuffer(settings.maxOutputBytes)
  const live = new LiveOutput((text) => ctx.update({ content: [{ type: 'text', text }] }))
  const collect = (buffer: OutputBuffer) => (chunk: Uint8Array) => {
    buffer.push(chunk)
    live.push(chunk)
  }
  const { end, renamed } = await launched(settings, command, ctx.signal, (launch) =>
    runProcess({ ...launch, timeoutMs: settings.timeoutMs, signal: ctx.signal, onStdout: collect(stdout), onStderr: collect(stderr) }),
  )
  const output = shownOutput(stdout.text(), stderr.text(), renamed)
  const failure = failureOf(settings, end, ctx.signal)
  if (failure !== undefined) throw withOutput(failure, output)
  return resultOf(end.exitCode, output, renamed)
}

function blockedBy({ entry, by }: Denial): ToolError {
  const why = {
    command: `it runs '${entry}'`,
    text: `it contains '${entry}'`,
    doubt: `it contains '${entry}', and cannot be parsed reliably`,
  }
  return new ToolError('failed', `Command blocked by safety policy: ${why[by]}. Use another way to do the task.`)
}

/** A command's exit status, and the paths renamed after it. */
interface Done {
  end: ProcessEnd
  renamed: string[]
}

type Run = (launch: Launch) => Promise<ProcessEnd>

async function launched(settings: BashSettings, command: string, signal: AbortSignal, run: Run): Promise<Done> {
  const { sandbox, policy, env, bash } = settings
  try {
    if (sandbox !== undefined) return await confined(settings, sandbox, command, signal, run)
    return { end: await run(unconfinedBash(bash, policy.root, env, command)), renamed: [] }
  } catch (error) {
    if (signal.aborted && error === signal.reason) throw new ToolError('cancelled', 'Cancelled')
    throw PhiError.isInstance(error) ? error : new ToolError('failed', `Failed to execute: ${errorText(error)}`, { cause: error })
  }
}

async function confined(settings: BashSettings, sandbox: Sandbox, command: string, signal: AbortSignal, run: Run): Promise<Done> {
  const { policy, env, timeoutMs, limits } = settings
  const before = await beforeCommand(policy, signal)
  try {
    const group =
      settings.confinement.memory === 'controlGroup'
        ? openControlGroup({ memory: limits.memoryBytes, tasks: limits.processes * 4 })
        : undefined
    try {
      const reservation = reserveProtected(policy)
      try {
        const profile = {
          root: policy.root,
          access: 'write' as const,
          readOnlyPaths: [...reservation.names, ...policy.running],
          readOnlyDescriptors: before.held.map(({ path }, index) => ({ path, descriptor: firstInherited + index })),
        }
        const inherited = before.held.map(({ pinned }) => pinned.descriptor)
        const options = { command, env, timeoutMs, limits, entrances: group?.entrances ?? [], shell: groupShell, inherited }
        const end = await run(sandboxedBash(sandbox, profile, options))
        return { end, renamed: await undoPlanted(policy, before) }
      } finally {
        reservation.release()
      }
    } finally {
      await group?.remove()
    }
  } finally {
    await Promise.all(before.held.map(({ pinned }) => pinned.close()))
  }
}

function failureOf({ timeoutMs, limits }: BashSettings, { reason }: ProcessEnd, signal: AbortSignal): ToolError | undefined {
  const mebibytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`
  switch (reason) {
    case 'exit':
      return undefined
    case 'abort':
      // The loop aborts for both a timeout and a cancellation. The reason distinguishes them.
      return ToolError.isInstance(signal.reason) ? signal.reason : new ToolError('cancelled', 'Cancelled')
    case 'timeout':
      return new ToolError('timeout', `Command timed out after ${timeoutMs / 1000}s`)
    case 'processes':
      return new ToolError('failed', `Command started more than ${limits.processes} concurrent processes and was stopped`)
    case 'memory':
      return new ToolError('failed', `Command used more than ${mebibytes(limits.memoryBytes)} of memory and was stopped`)
    case 'disk':
      return new ToolError(
        'failed',
        `Command wrote more than ${mebibytes(limits.diskBytes)} to disk, or half of the free space, and was stopped`,
      )
  }
}

/** Returns `failure` with the output so far, so the model can see the progress. */
function withOutput(failure: ToolError, output: string): ToolError {
  return output === '' ? failure : new ToolError(failure.code, `${failure.message}. Output so far:\n${output}`, { cause: failure })
}

function shownOutput(stdout: string, stderr: string, renamed: readonly string[]): string {
  const output = stderr === '' ? stdout : `STDOUT:\n${stdout}\nSTDERR:\n${stderr}`
  if (renamed.length === 0) return output
  const end = output === '' || output.endsWith('\n') ? '' : '\n'
  return `${output}${end}Renamed to ….blocked, because other programs execute or read settings from such files: ${listed(renamed)}\n`
}

function resultOf(exitCode: number, output: string, renamed: readonly string[]): ToolResult {
  return {
    content: [{ type: 'text', text: `Exit code: ${exitCode}\n${output}` }],
    details: { exit_code: exitCode, success: exitCode === 0, ...(renamed.length === 0 ? {} : { renamed: renamed.slice(0, shownPaths) }) },
  }
}

const shownPaths = 20

/** Formats paths chosen by a command for the result, on one line and with bounded length. */
function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, shownPaths).map((path) => escapeControls(path.slice(-200)).replaceAll('\n', '\\u{a}'))
  return paths.length > shownPaths ? `${shown.join(', ')} and ${paths.length - shownPaths} more` : shown.join(', ')
}
