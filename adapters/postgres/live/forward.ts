import type { Logger } from '../../../src/index.ts'
import { logWarning } from '../../../src/internal.ts'
import { type BodyLimits, readText, requestHeaders } from '../../http/internal.ts'
import type { AnswerHead, AnswerPart, ForwardedRequest, Mailbox } from './mailbox.ts'
import type { LeaseKey } from './session-leases.ts'

/** A request that another process answers. */
interface OpenCall {
  /** Settled by the first part. */
  begin(head: AnswerHead): void
  add(bytes: Uint8Array): void
  end(): void
  fail(error: Error): void
  /** Whether its reader has room for more. */
  readonly wantsMore: boolean
}

/** The process that had the session is gone. */
export class HolderGoneError extends Error {
  /** Whether it may have done something. */
  readonly wasTaken: boolean

  constructor(wasTaken: boolean) {
    super('The process that answered for this session has gone.')
    this.name = 'HolderGoneError'
    this.wasTaken = wasTaken
  }
}

interface ForwardingOptions {
  mailbox: Mailbox
  logger: Logger | false | undefined
  wake: () => void
}

/** Sends requests to other processes, and reads what they answer. */
export class Forwarding {
  readonly #mailbox: Mailbox
  readonly #logger: Logger | false | undefined
  readonly #wake: () => void
  readonly #open = new Map<string, OpenCall>()

  /** `wake` is called when a reader has room again: then `read` is to be called. */
  constructor({ mailbox, logger, wake }: ForwardingOptions) {
    this.#mailbox = mailbox
    this.#logger = logger
    this.#wake = wake
  }

  /**
   * What `receiver` answers; `moved` where it has the session no longer. A reader that leaves withdraws the request. Rejects with `HolderGoneError`, and as the
   * database does.
   */
  async ask(receiver: string, request: ForwardedRequest, signal: AbortSignal): Promise<Response | 'moved'> {
    signal.throwIfAborted()
    const callId = crypto.randomUUID()
    const answer = this.#expect(callId, signal)
    // It may be lost while it is sent, when nobody awaits it yet.
    answer.catch(() => undefined)
    try {
      await this.#mailbox.send(callId, receiver, request)
    } catch (error) {
      this.#open.get(callId)?.fail(error instanceof Error ? error : new Error(String(error)))
    }
    return answer
  }

  /** Takes what has come for those whose readers have room. */
  async read(): Promise<void> {
    const wanted = [...this.#open].filter(([, call]) => call.wantsMore).map(([callId]) => callId)
    if (wanted.length === 0) return
    for (const { callId, part } of await this.#mailbox.parts(wanted)) this.#take(callId, part)
  }

  /** Tells calls that nobody will answer any more. */
  async tellLost(): Promise<void> {
    if (this.#open.size === 0) return
    for (const { callId, wasTaken } of await this.#mailbox.lost([...this.#open.keys()])) {
      if (!this.#open.has(callId)) continue
      this.#fail(callId, new HolderGoneError(wasTaken))
      await this.#mailbox.withdraw(callId)
    }
  }

  /** Nothing is read any more: who still waits is told. */
  end(): void {
    for (const callId of [...this.#open.keys()]) this.#fail(callId, new HolderGoneError(true))
  }

  #take(callId: string, { head, bytes, ending }: AnswerPart): void {
    const call = this.#open.get(callId)
    if (call === undefined) return
    if (head !== undefined) call.begin(head)
    if (bytes.byteLength > 0) call.add(bytes)
    if (ending === undefined) return
    if (ending === 'whole') {
      this.#open.delete(callId)
      call.end()
    } else this.#fail(callId, new Error('The answer of the process that has the session broke off. Connect again.'))
  }

  #fail(callId: string, error: Error): void {
    const call = this.#open.get(callId)
    this.#open.delete(callId)
    call?.fail(error)
  }

  #expect(callId: string, signal: AbortSignal): Promise<Response | 'moved'> {
    return new Promise((resolve, reject) => {
      let stream: ReadableStreamDefaultController<Uint8Array> | undefined
      const withdraw = (): void => {
        if (!this.#open.delete(callId)) return
        signal.removeEventListener('abort', leave)
        this.#mailbox.withdraw(callId).catch((error: unknown) => {
          logWarning(this.#logger, 'sessionsUnreachable', { message: String(error) })
        })
      }
      const leave = (): void => {
        withdraw()
        reject(signal.reason)
        stream?.error(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          stream = controller
        },
        pull: () => this.#wake(),
        cancel: withdraw,
      })
      this.#open.set(callId, {
        begin: (head) => {
          if (head === 'moved') return resolve('moved')
          const { status, headers } = head
          resolve(new Response(hasBody(status) ? body : null, { status, headers }))
        },
        add: (bytes) => stream?.enqueue(bytes),
        end: () => {
          signal.removeEventListener('abort', leave)
          stream?.close()
        },
        fail: (error) => {
          signal.removeEventListener('abort', leave)
          reject(error)
          stream?.error(error)
        },
        get wantsMore() {
          return (stream?.desiredSize ?? 0) > 0
        },
      })
    })
  }
}

function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304
}

/** A request as it goes to another process. Its body is read, within `limits`. */
export async function forwarded({ owner, sessionId }: LeaseKey, request: Request, limits: BodyLimits): Promise<ForwardedRequest> {
  const { pathname, search } = new URL(request.url)
  const headers = requestHeaders.flatMap((name): [string, string][] => {
    const value = request.headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  const { method } = request
  const isReading = method === 'GET' || method === 'HEAD'
  return { owner, sessionId, method, path: `${pathname}${search}`, headers, ...(!isReading && { body: await readText(request, limits) }) }
}
