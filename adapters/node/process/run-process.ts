import { type ChildProcess, spawn } from 'node:child_process'
import { Writable } from 'node:stream'
import { timerMs } from '../../../src/base/timer.ts'
import { killMarked, signalGroup } from './kill.ts'
import { type Excess, type WatchLimits, watchSandbox } from './sandbox-watch.ts'

/** A program to run until it exits. */
export interface ProcessSpec {
  /** Absolute path. */
  file: string
  args: readonly string[]
  /** The complete environment. Nothing is inherited. */
  env: Record<string, string>
  cwd?: string
  /** The program's standard input. Default: empty. */
  stdin?: Uint8Array
  /** Content of descriptors 3, 4, …. */
  inputs?: readonly Uint8Array[]
  /** Timeout in milliseconds. Default: none. */
  timeoutMs?: number
  signal: AbortSignal
  /** `NAME=value` entry of `env` that identifies descendants that left the process group (Linux). */
  mark?: string
  /** Descriptors in this process that the program gets after those for `inputs`. */
  descriptors?: readonly number[]
  /** Limits for the sandbox that the program (bubblewrap) creates. A sandbox over a limit is killed immediately. */
  watch?: WatchLimits
  onStdout(chunk: Uint8Array): void
  onStderr(chunk: Uint8Array): void
}

/** A program's result. `exitCode` is -1 if a signal ended the program. */
export interface ProcessEnd {
  exitCode: number
  reason: 'exit' | 'timeout' | 'abort' | Excess
}

// Milliseconds between SIGTERM and SIGKILL, and until output held open by another process is abandoned.
const graceMs = 500
/**
 * Runs a program in a separate process group.
 *
 * **Contract**
 * - When the promise settles, the program and its group have exited. A timeout or abort kills them (TERM, then KILL). Background processes
 *   are killed when the program ends.
 * - A sandbox that exceeds `watch` is killed without a SIGTERM.
 * - Rejects only if the program cannot be started, with the system's error.
 */
export function runProcess(spec: ProcessSpec): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    const inputs = spec.inputs ?? []
    const child = spawn(spec.file, spec.args, {
      env: spec.env,
      ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
      detached: true,
      stdio: [
        spec.stdin === undefined ? 'ignore' : 'pipe',
        'pipe',
        'pipe',
        ...inputs.map(() => 'pipe' as const),
        ...(spec.descriptors ?? []),
      ],
    })
    let reason: ProcessEnd['reason'] = 'exit'
    let patience: NodeJS.Timeout | undefined

    const stop = (why: Exclude<ProcessEnd['reason'], 'exit'>) => {
      if (patience !== undefined) return
      reason = why
      signalGroup(child.pid, why === 'timeout' || why === 'abort' ? 'SIGTERM' : 'SIGKILL')
      patience = setTimeout(signalGroup, graceMs, child.pid, 'SIGKILL')
    }
    const onAbort = () => stop('abort')
    const deadline = spec.timeoutMs === undefined ? undefined : setTimeout(stop, timerMs(spec.timeoutMs), 'timeout')
    const watch = child.pid === undefined || spec.watch === undefined ? undefined : watchSandbox(child.pid, spec.watch, stop)
    const settle = () => {
      clearInterval(watch)
      clearTimeout(deadline)
      clearTimeout(patience)
      spec.signal.removeEventListener('abort', onAbort)
    }

    spec.signal.addEventListener('abort', onAbort)
    if (spec.signal.aborted) onAbort()
    pipe(child, inputs, spec)
    child.on('error', (error) => {
      settle()
      reject(error)
    })
    child.on('exit', () => {
      clearInterval(watch)
      clearTimeout(deadline)
      clearTimeout(patience)
      signalGroup(child.pid, 'SIGKILL')
      if (spec.mark !== undefined) killMarked(spec.mark)
      patience = setTimeout(closeOutput, graceMs, child)
    })
    child.on('close', (code) => {
      settle()
      resolve({ exitCode: code ?? -1, reason })
    })
  })
}

function pipe(child: ChildProcess, inputs: readonly Uint8Array[], spec: ProcessSpec): void {
  child.stdout?.on('data', (chunk: Uint8Array) => spec.onStdout(chunk))
  child.stderr?.on('data', (chunk: Uint8Array) => spec.onStderr(chunk))
  const written: [number, Uint8Array][] = inputs.map((bytes, index) => [3 + index, bytes])
  if (spec.stdin !== undefined) written.push([0, spec.stdin])
  for (const [descriptor, bytes] of written) {
    const stream = child.stdio[descriptor]
    if (!(stream instanceof Writable)) continue
    // Ignore errors of a program that exits without reading its input.
    stream.on('error', () => {})
    stream.end(bytes)
  }
}

function closeOutput(child: ChildProcess): void {
  child.stdout?.destroy()
  child.stderr?.destroy()
}
