import type { AnswerPart } from './mailbox.ts'

/** A response that another process sends in parts. It is available as a `Response` as soon as it has begun. */
export class AwaitedAnswer {
  /** Rejects if the response does not begin. Resolves with `moved` if nothing was done. */
  readonly begun: Promise<Response | 'moved'>
  /** Whether its request is stored. */
  isSent = false
  /** Received parts. */
  came = 0
  #settle: { resolve: (answer: Response | 'moved') => void; reject: (error: unknown) => void } | undefined
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined
  readonly #body: ReadableStream<Uint8Array>
  #isOver = false
  readonly #signal: AbortSignal
  readonly #onLeave: () => void

  /** `onRoom` is called when its reader has room, `onLeave` when its reader has disconnected or `signal` has aborted. */
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

  /** Adds the next part, which may be the last. */
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

  /** Called when the signal aborts. */
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
