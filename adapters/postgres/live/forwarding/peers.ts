import { raceAbort } from '../../../../src/base/abort.ts'
import { logWarning } from '../../../../src/base/log-warning.ts'
import { errorText } from '../../../../src/contract/errors.ts'
import type { ForwardedCommand } from '../../../../src/contract/session/session-command.ts'
import { aText, either, listOf, options as optionsOf, required } from '../../../../src/contract/shape/shape.ts'
import { ConfigError, type Logger } from '../../../../src/index.ts'
import { type BodyLimits, isSigned, problemOf, problemResponse, readText, refuse, signatureOf, signingKey } from '../../../http/internal.ts'
import type { Holder } from '../session-leases.ts'
import { OwnerLostError } from './forward.ts'
import type { Incoming } from './incoming.ts'

/** Options for direct HTTP between processes. */
export interface PeerOptions {
  /** URL at which this process serves `forwarded` to the others. */
  url: string
  /**
   * Secret that signs requests between processes: at least 32 random characters, the same for all. During a key rotation, the new and the
   * old secret.
   */
  key: string | readonly string[]
}

export const peerOptions = optionsOf<PeerOptions>({ url: required(aText), key: required(either(signingKey, listOf(signingKey))) })

/** Header for HTTP between processes. It contains a request's length and signature, or a response's outcome. */
const peerHeader = 'phi-forwarded'
/** Prefix of the signed text, so that signatures of other features are invalid here. */
const purpose = 'phi-core forwarded command\n'
const lengthPurpose = 'phi-core length of a forwarded command\n'
/** Headers that belong to one connection. */
const ofConnection = ['connection', 'keep-alive', 'transfer-encoding', 'content-encoding', 'content-length', 'date']
/** Milliseconds until an unreachable URL is tried again. */
const unreachedMs = 10_000
/** Errors of a request that was never sent, in Node, Deno and Bun. */
const neverSent = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused/

/** A command in flight. */
interface PeerCall {
  callId: string
  /** The process that must handle it. Another process at the same URL does nothing. */
  receiver: string
  command: unknown
}

interface PeersOptions {
  peers: PeerOptions
  processId: string
  incoming: Incoming
  logger: Logger | false | undefined
}

/** Forwards commands to other processes over HTTP, and receives theirs. */
export class Peers {
  readonly #options: PeersOptions
  readonly #keys: readonly string[]
  /** Aborts open calls, by the process that handles them. */
  readonly #open = new Map<string, Set<AbortController>>()
  readonly #unreached = new Map<string, number>()

  constructor(options: PeersOptions) {
    this.#options = options
    const { url, key } = options.peers
    this.#keys = typeof key === 'string' ? [key] : key
    assertUrl(url)
    if (this.#keys.length === 0)
      throw new ConfigError('invalidOption', 'peers.key is an empty list. Give it the key that all processes have.')
  }

  /** Processes with open calls. */
  get asked(): string[] {
    return [...this.#open.keys()]
  }

  /**
   * Returns the response from `holder`, or `unreached` if it certainly got nothing. Rejects with `OwnerLostError`, and with the signal's
   * reason on abort.
   */
  async ask({ processId, url }: Holder, command: ForwardedCommand, signal: AbortSignal): Promise<Response | 'moved' | 'unreached'> {
    if (url === undefined || performance.now() < (this.#unreached.get(url) ?? 0)) return 'unreached'
    const body = JSON.stringify({ callId: crypto.randomUUID(), receiver: processId, command } satisfies PeerCall)
    const { ended, over } = this.#begin(processId, signal)
    try {
      const headers = { 'content-type': 'application/json', [peerHeader]: await sealOf(body, this.#keys[0] ?? '') }
      // The signature must not follow a redirect.
      const init = { method: 'POST', headers, body, redirect: 'error' as const, signal: ended.signal }
      const answer = await raceAbort(fetch(url, init), ended.signal)
      return await this.#read(url, answer, (rest) => streamed(rest, ended.signal, over))
    } catch (error) {
      over()
      ended.signal.throwIfAborted()
      if (neverSent.test(codeOf(error))) return this.#lose(url, errorText(error))
      throw new OwnerLostError(true)
    }
  }

  /** Rejects calls to a crashed process. */
  failCallsTo(processId: string): void {
    for (const ended of this.#open.get(processId) ?? []) ended.abort(new OwnerLostError(true))
  }

  /** Responds to a request from another process. Rejects unsigned requests with 401. */
  async receive(request: Request, { maxBytes, timeoutMs }: BodyLimits): Promise<Response> {
    try {
      const seal = /^((\d{1,12})\.([\da-f]{64}))\.([\da-f]{64})$/.exec(request.headers.get(peerHeader) ?? '')
      if (seal === null) refuseUnsigned()
      const [, sealed = '', bytes, ofBody = '', ofLength = ''] = seal
      // A sender without the key cannot make this process wait or read a body.
      if (!(await isSigned(lengthPurpose + sealed, ofLength, this.#keys))) refuseUnsigned()
      // The body is nested in another JSON body, so its quotes are escaped.
      const body = await readText(request, { maxBytes: Math.min(Number(bytes), maxBytes * 2 + 1024), timeoutMs })
      if (!(await isSigned(purpose + body, ofBody, this.#keys))) refuseUnsigned()
      const { callId, receiver, command }: PeerCall = JSON.parse(body)
      const isMeant = receiver === this.#options.processId
      return toResponse(isMeant ? await this.#options.incoming.answer(callId, command, request.signal) : 'moved')
    } catch (error) {
      return problemResponse(problemOf(error, this.#options.logger))
    }
  }

  /** Opens a call until `over` is called. Holds the controller here, so that it is not collected while a response streams. */
  #begin(processId: string, signal: AbortSignal): { ended: AbortController; over: () => void } {
    const ended = new AbortController()
    const leave = (): void => ended.abort(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    const open = this.#open.get(processId) ?? new Set()
    this.#open.set(processId, open.add(ended))
    const over = (): void => {
      signal.removeEventListener('abort', leave)
      open.delete(ended)
      if (open.size === 0 && this.#open.get(processId) === open) this.#open.delete(processId)
    }
    return { ended, over }
  }

  async #read(
    url: string,
    response: Response,
    rest: (body: ReadableStream<Uint8Array> | null) => ReadableStream<Uint8Array> | null,
  ): Promise<Response | 'moved' | 'unreached'> {
    const { status, headers } = response
    const done = headers.get(peerHeader)
    if (done === 'answered') {
      const own = new Headers(headers)
      for (const name of [peerHeader, ...ofConnection]) own.delete(name)
      return new Response(rest(response.body), { status, headers: own })
    }
    await rest(response.body)?.cancel()
    // If another service responded, or the key differs, nothing was done.
    return done === 'moved' ? 'moved' : this.#lose(url, `It responded with ${status} and does not know this process.`)
  }

  #lose(url: string, message: string): 'unreached' {
    logWarning(this.#options.logger, 'peerUnreached', { url, message })
    this.#unreached.set(url, performance.now() + unreachedMs)
    return 'unreached'
  }
}

/** Returns a body as it arrives. `over` is called at its end. */
function streamed(body: ReadableStream<Uint8Array> | null, signal: AbortSignal, over: () => void): ReadableStream<Uint8Array> | null {
  if (body === null) {
    over()
    return null
  }
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      const end = (): void => {
        over()
        controller.error(signal.reason)
        reader.cancel(signal.reason).catch(() => undefined)
      }
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) end()
    },
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        over()
        controller.close()
      } catch (error) {
        over()
        controller.error(error)
      }
    },
    cancel: (reason) => {
      over()
      return reader.cancel(reason)
    },
  })
}

/** Returns the HTTP response. Status 421 means that the request went to the wrong process. */
function toResponse(answer: Response | 'moved'): Response {
  if (answer === 'moved') return new Response(null, { status: 421, headers: { [peerHeader]: 'moved' } })
  const headers = new Headers(answer.headers)
  headers.set(peerHeader, 'answered')
  return new Response(answer.body, { status: answer.status, headers })
}

/** Returns a body's length and signature, plus a signature over both that can be verified before the body arrives. */
async function sealOf(body: string, key: string): Promise<string> {
  const sealed = `${new TextEncoder().encode(body).length}.${await signatureOf(purpose + body, key)}`
  return `${sealed}.${await signatureOf(lengthPurpose + sealed, key)}`
}

function refuseUnsigned(): never {
  refuse(401, 'unauthorized', 'Only processes of this server may call this route, with signed requests.')
}

function codeOf(error: unknown): string {
  const { code, cause }: { code?: unknown; cause?: { code?: unknown } } = Object(error)
  return `${code} ${cause?.code}`
}

function assertUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (isWeb && url.username === '' && url.password === '' && url.hash === '') return
  const message = 'peers.url must be an http or https URL without a password, at which other processes reach this one.'
  throw new ConfigError('invalidOption', message)
}
