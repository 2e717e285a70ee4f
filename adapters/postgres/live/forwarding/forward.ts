import type { Logger } from '../../../../src/index.ts'
import { type ForwardedCommand, logWarning } from '../../../../src/internal.ts'
import type { AnswerHead, Mailbox, ReceivedPart } from './mailbox.ts'

/** A request that another process answers. */
interface OpenCall {
  /** Settled by the first part. */
  begin(head: AnswerHead): void
  add(bytes: Uint8Array): void
  end(): void
  fail(error: Error): void
  /** Whether its reader has room for more. */
  readonly wantsMore: boolean
  /** Whether it stands in the table. */
  isSent: boolean
  /** Parts that have come. */
  came: number
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

/** Passes commands on through the database, and reads what other processes answer. */
export class Forwarding {
  readonly #mailbox: Mailbox
  readonly #logger: Logger | false | undefined
  readonly #wake: () => void
  readonly #open = new Map<string, OpenCall>()
  #reading: Promise<void> = Promise.resolve()

  /** `wake` is called when a reader has room again: then `read` is to be called. */
  constructor({ mailbox, logger, wake }: ForwardingOptions) {
    this.#mailbox = mailbox
    this.#logger = logger
    this.#wake = wake
  }

  /** Whether somebody waits for an answer to this call, or for the rest of it. */
  isOpen(callId: string): boolean {
    return this.#open.has(callId)
  }

  /**
   * What `receiver` answers; `moved` where it has the session no longer. A reader that leaves withdraws the request, as late as it may be on its way. Rejects with
   * `HolderGoneError`, and as the database does.
   */
  async ask(receiver: string, command: ForwardedCommand, signal: AbortSignal): Promise<Response | 'moved'> {
    signal.throwIfAborted()
    const callId = crypto.randomUUID()
    const sent = this.#mailbox.send(callId, receiver, command)
    const answer = this.#expect(callId, sent, signal)
    sent.then(
      () => {
        const call = this.#open.get(callId)
        if (call !== undefined) call.isSent = true
      },
      (error: unknown) => this.#fail(callId, error instanceof Error ? error : new Error(String(error))),
    )
    return answer
  }

  /** Takes what has come for those whose readers have room. */
  async read(): Promise<void> {
    const wanted = [...this.#open].filter(([, call]) => call.wantsMore).map(([callId]) => callId)
    if (wanted.length === 0) return
    const parts = this.#mailbox.parts(wanted)
    const reading = parts.then(
      () => undefined,
      () => undefined,
    )
    this.#reading = reading
    for (const part of await parts) this.#take(part)
  }

  /** Tells calls that nobody will answer any more. */
  async tellLost(): Promise<void> {
    const sent = [...this.#open].filter(([, { isSent }]) => isSent).map(([callId]) => callId)
    if (sent.length === 0) return
    const lost = await this.#mailbox.lost(sent)
    // A call is gone from the table once its last part was taken, which may be on its way here.
    await this.#reading
    for (const { callId, wasTaken } of lost) {
      if (!this.#open.has(callId)) continue
      this.#lose(callId, new HolderGoneError(wasTaken))
    }
  }

  /** Nothing is read any more: who still waits is told. */
  end(): void {
    for (const callId of [...this.#open.keys()]) this.#fail(callId, new HolderGoneError(true))
  }

  #take({ callId, at, part: { head, bytes, ending } }: ReceivedPart): void {
    const call = this.#open.get(callId)
    // One that was sent twice.
    if (call === undefined || at < call.came) return
    const isGap = at > call.came || (at === 0 && head === undefined)
    if (isGap) {
      this.#lose(callId, new HolderGoneError(true))
      return
    }
    call.came += 1
    if (head !== undefined) call.begin(head)
    if (bytes.byteLength > 0) call.add(bytes)
    if (ending === undefined) return
    if (ending === 'whole') {
      this.#open.delete(callId)
      call.end()
    } else this.#lose(callId, new Error('The answer of the process that has the session broke off. Connect again.'))
  }

  /** Nothing more of it is of use. */
  #lose(callId: string, error: Error): void {
    this.#fail(callId, error)
    this.#withdraw(callId)
  }

  /** What cannot be withdrawn now is later, with the next beat. */
  #withdraw(callId: string): void {
    this.#mailbox.withdraw(callId).catch((error: unknown) => {
      logWarning(this.#logger, 'sessionsUnreachable', { message: String(error) })
    })
  }

  #fail(callId: string, error: Error): void {
    const call = this.#open.get(callId)
    this.#open.delete(callId)
    call?.fail(error)
  }

  #expect(callId: string, sent: Promise<void>, signal: AbortSignal): Promise<Response | 'moved'> {
    return new Promise((resolve, reject) => {
      let stream: ReadableStreamDefaultController<Uint8Array> | undefined
      const withdraw = (): void => {
        if (!this.#open.delete(callId)) return
        signal.removeEventListener('abort', leave)
        sent.then(
          () => this.#withdraw(callId),
          () => undefined,
        )
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
        isSent: false,
        came: 0,
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
