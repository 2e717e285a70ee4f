import type { AnswerPart } from './mailbox.ts'

/** An answer that another process gives in parts, as it comes: a `Response` as soon as it has begun. */
export class AwaitedAnswer {
  /** Rejects where it does not begin; `moved` where nothing was done. */
  readonly begun: Promise<Response | 'moved'>
  /** Whether its request stands in the table. */
  isSent = false
  /** Parts that have come. */
  came = 0
  #settle: { resolve: (answer: Response | 'moved') => void; reject: (error: unknown) => void } | undefined
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined
  readonly #body: ReadableStream<Uint8Array>
  #isOver = false
  readonly #signal: AbortSignal
  readonly #onLeave: () => void

  /** `onRoom` is called when its reader has room, `onLeave` when nobody waits for it any more: its reader has left, or `signal` has aborted. */
  constructor({ signal, onRoom, onLeave }: { signal: AbortSignal; onRoom: () => void; onLeave: () => void }) {
    this.#signal = signal
    this.#onLeave = onLeave
    this.begun = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    this.#body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#stream = controller
      },
      pull: onRoom,
      cancel: () => this.#end(onLeave),
    })
    signal.addEventListener('abort', this, { once: true })
  }

  /** Whether its reader has room for more. */
  get wantsMore(): boolean {
    return (this.#stream?.desiredSize ?? 0) > 0
  }

  /** Takes the next part, with which it may be whole. */
  take({ head, bytes, ending }: AnswerPart): void {
    this.came += 1
    if (head !== undefined) this.#begin(head)
    if (bytes.byteLength > 0) this.#stream?.enqueue(bytes)
    if (ending === 'whole') this.#end(() => this.#stream?.close())
  }

  fail(error: unknown): void {
    this.#end(() => {
      this.#settle?.reject(error)
      this.#stream?.error(error)
    })
  }

  /** The signal has aborted. */
  handleEvent(): void {
    if (this.#isOver) return
    this.fail(this.#signal.reason)
    this.#onLeave()
  }

  #begin(head: NonNullable<AnswerPart['head']>): void {
    this.#settle?.resolve(head === 'moved' ? head : new Response(hasBody(head.status) ? this.#body : null, head))
  }

  #end(act: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#signal.removeEventListener('abort', this)
    act()
  }
}

function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304
}
