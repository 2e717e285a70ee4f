import { type ChildProcess, spawn } from 'node:child_process'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { signalGroup } from '../process/kill.ts'
import { type LineBuffer, lineBuffer } from './line-buffer.ts'

/** The command for an MCP server over stdio. */
export interface ServerCommand {
  command: string
  args: readonly string[]
  /** The complete environment. */
  env: Record<string, string>
  cwd?: string
  onStderr(line: string): void
}

type Message = Parameters<Transport['send']>[0]

/** Maximum bytes of a message. */
const maxMessage = 10 * 1024 * 1024
/** Maximum characters of a stderr line. */
const maxStderrLine = 1000
/** Milliseconds between the end of input, SIGTERM and SIGKILL, and until output held open by another process is abandoned. */
const graceMs = 2000

/**
 * Runs a server in its own process group and exchanges messages with it, one per line.
 *
 * **Contract**
 * - A line that is not a message goes to `onerror` and is skipped. A message above 10 MiB stops the server.
 * - `close` ends the input, then sends SIGTERM, then SIGKILL to the group, two seconds apart. When `close` settles, the group has exited,
 *   and no timer or pipe remains. If the server exits by itself, its remaining child processes are killed.
 */
export class ServerProcess implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: <T extends Message>(message: T) => void
  readonly #command: ServerCommand
  #child: ChildProcess | undefined
  #ended: Promise<void> = Promise.resolve()
  #isClosing = false

  constructor(command: ServerCommand) {
    this.#command = command
  }

  start(): Promise<void> {
    const { command, args, env, cwd, onStderr } = this.#command
    const child = spawn(command, args, { env, ...(cwd !== undefined && { cwd }), detached: true, stdio: 'pipe' })
    this.#child = child
    this.#read(child)
    read(child.stderr, lineBuffer(maxStderrLine, onStderr))
    child.stdin.on('error', (error) => this.onerror?.(error))
    return new Promise((resolve, reject) => {
      child.once('spawn', () => resolve())
      child.once('error', (error) => {
        this.#child = undefined
        reject(error)
      })
    })
  }

  send(message: Message): Promise<void> {
    const { stdin } = this.#child ?? {}
    if (!stdin?.writable) return Promise.reject(new Error('The MCP server has exited.'))
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  }

  async close(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#isClosing = true
    child.stdin?.end()
    if (await endedWithin(this.#ended, graceMs)) return
    signalGroup(child.pid, 'SIGTERM')
    if (await endedWithin(this.#ended, graceMs)) return
    signalGroup(child.pid, 'SIGKILL')
    await this.#ended
  }

  #read(child: ChildProcess): void {
    const onLine = (line: string) => {
      const message = parsed(line)
      if (message !== undefined) this.onmessage?.(message)
      else if (line.trim() !== '') this.onerror?.(new Error(`The MCP server wrote a line that is not a message: ${line.slice(0, 200)}`))
    }
    const onTooLong = () => {
      this.onerror?.(new Error(`The MCP server wrote a message longer than ${maxMessage} bytes and was stopped.`))
      child.stdout?.destroy()
      signalGroup(child.pid, 'SIGKILL')
    }
    read(child.stdout, lineBuffer(maxMessage, onLine, onTooLong))
    // A server that closed its output cannot respond: reject pending calls now, so that the next call restarts it.
    child.stdout?.once('end', () => {
      if (!this.#isClosing) signalGroup(child.pid, 'SIGKILL')
    })
    let stranger: NodeJS.Timeout | undefined
    child.once('exit', () => {
      // Kill child processes too; their pipes close with them.
      signalGroup(child.pid, 'SIGKILL')
      stranger = setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
      }, graceMs)
    })
    this.#ended = new Promise((resolve) => {
      child.once('close', () => {
        clearTimeout(stranger)
        this.#child = undefined
        resolve()
        this.onclose?.()
      })
    })
  }
}

function read(stream: NodeJS.ReadableStream | null, buffer: LineBuffer): void {
  stream?.on('data', (chunk: Uint8Array) => buffer.push(chunk))
  stream?.on('end', () => buffer.end())
  stream?.on('error', () => undefined)
}

/**
 * Parses a message. Returns `undefined` for banners and other text. Programs on Windows may write a byte order mark. The protocol layer
 * validates it.
 */
function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line.replace(/^\uFEFF/, ''))
    return isMessage(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'
}

function endedWithin(ended: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false)
    void ended.then(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
