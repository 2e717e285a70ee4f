import { type ChildProcess, spawn } from 'node:child_process'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { signalGroup } from '../process/kill.ts'
import { type LineBuffer, lineBuffer } from './line-buffer.ts'

/** A program that speaks MCP over its standard input and output. */
export interface ServerCommand {
  command: string
  args: readonly string[]
  /** The whole environment. */
  env: Record<string, string>
  cwd?: string
  onStderr(line: string): void
}

type Message = Parameters<Transport['send']>[0]

/** Bytes of one message. */
const maxMessage = 10 * 1024 * 1024
/** Characters of a line of standard error. */
const maxStderrLine = 1000
/** Milliseconds between the end of input, the polite and the final signal, and until output held open by a stranger is given up. */
const graceMs = 2000

/**
 * Runs a server in a process group of its own, and exchanges messages with it, one per line.
 *
 * **Contract**
 * - A line that is no message is reported to `onerror` and skipped; a message larger than 10 MiB ends the server.
 * - `close` ends the input, then sends SIGTERM, then SIGKILL, two seconds apart, to the whole group. When it settles, the group is gone, and no timer
 *   and no pipe is left. What a server that ends by itself leaves running is killed as well.
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
    if (!stdin?.writable) return Promise.reject(new Error('The server has ended.'))
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
      else if (line.trim() !== '') this.onerror?.(new Error(`The server wrote a line that is no message: ${line.slice(0, 200)}`))
    }
    const onTooLong = () => {
      this.onerror?.(new Error(`The server wrote a message larger than ${maxMessage} bytes, and was ended.`))
      child.stdout?.destroy()
      signalGroup(child.pid, 'SIGKILL')
    }
    read(child.stdout, lineBuffer(maxMessage, onLine, onTooLong))
    // Who says nothing any more is no server: what waits for it need not wait longer, and the next call finds another.
    child.stdout?.once('end', () => {
      if (!this.#isClosing) signalGroup(child.pid, 'SIGKILL')
    })
    let stranger: NodeJS.Timeout | undefined
    child.once('exit', () => {
      // What it started must not outlive it; the pipes end with them.
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

/** The message a line holds; undefined for banners and other noise. Programs on Windows begin with a byte order mark. What is in it, the protocol checks. */
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
