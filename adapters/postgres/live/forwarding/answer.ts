import { isEventStream } from '../../../../src/base/http-answer.ts'
import { startTimer } from '../../../../src/base/timer.ts'
import { type AnswerHead, type AnswerPart, type Mailbox, maxPartBytes, type ReceivedCall, type Sending } from './mailbox.ts'

/** Milliseconds until a retry while too much of a response is unread. */
const fullMs = 50
/** Milliseconds until a retry after a database failure. */
const failedMs = 250

const nothing = new Uint8Array()

/** Options that a process's responses share. */
export interface AnswerOptions {
  mailbox: Mailbox
  /** Uses the database. Logs failures and never rejects. */
  logErrors: (act: () => Promise<void>) => Promise<void>
  /** Aborts when this process stops responding. */
  signal: AbortSignal
}

/**
 * Sends the response of `act` to another process, in parts. If the caller stops waiting or `signal` aborts, the signal passed to `act`
 * aborts and no more of the response is read. After a database failure a part is sent again, because the caller would wait forever. Neither
 * this nor `act` rejects.
 */
export async function answerCall(
  call: ReceivedCall,
  act: (left: AbortSignal) => Promise<Response | 'moved'>,
  options: AnswerOptions,
): Promise<void> {
  const left = new AbortController()
  const sender = new PartSender(call, options)
  const response = await act(left.signal)
  if (response === 'moved') await sender.send({ head: 'moved', bytes: nothing, ending: 'whole' })
  else if (!(await isSent(response, sender))) left.abort()
}

/** Resolves with whether the caller waited until the end. A short response is sent as one part. A stream begins immediately. */
async function isSent({ status, headers, body }: Response, sender: PartSender): Promise<boolean> {
  const head: AnswerHead = { status, headers: [...headers] }
  if (body === null) return sender.send({ head, bytes: nothing, ending: 'whole' })
  const reader = body.getReader()
  const waiting = new WaitingBytes(reader)
  const isStream = isEventStream({ headers })
  let isOpen = isStream ? await sender.send({ head, bytes: nothing }) : true
  for (let isFirst = !isStream; isOpen; isFirst = false) {
    const next = await waiting.next(!isStream)
    isOpen = await sender.send({ ...(isFirst && { head }), ...next })
    if (next.ending !== undefined) return isOpen
  }
  waiting.drop()
  await reader.cancel().catch(() => undefined)
  return false
}

/** Sends the parts of one response in order. */
class PartSender {
  readonly #call: ReceivedCall
  readonly #options: AnswerOptions
  #next = 0

  constructor(call: ReceivedCall, options: AnswerOptions) {
    this.#call = call
    this.#options = options
  }

  /** Resolves with whether the caller is still waiting. */
  async send(part: AnswerPart): Promise<boolean> {
    const { signal } = this.#options
    const at = this.#next++
    for (;;) {
      const done = await this.#try(at, part)
      if (done === 'sent' || done === 'gone' || signal.aborted) return done === 'sent'
      await new Promise<void>((resolve) => {
        startTimer(done === 'full' ? fullMs : failedMs, resolve)
      })
    }
  }

  /** Returns the database's outcome, or `undefined` if the database fails. It may have stored the part before it failed. */
  async #try(at: number, part: AnswerPart): Promise<Sending | undefined> {
    const { mailbox, logErrors } = this.#options
    let done: Sending | undefined
    await logErrors(async () => {
      done = await mailbox.answer(this.#call, at, part)
    })
    return done
  }
}

/** The unsent bytes of a body. Bytes that arrive while a part is in flight form the next part. */
class WaitingBytes {
  #chunks: Uint8Array[] = []
  #size = 0
  #ending: 'whole' | 'broken' | undefined
  #isDropped = false
  #changed: () => void = () => undefined

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    void this.#fill(reader)
  }

  /** Returns the next part as soon as there are bytes. With `whole`, waits until the part is full or the body has ended. */
  async next(whole: boolean): Promise<AnswerPart> {
    while (this.#ending === undefined && (whole ? this.#size < maxPartBytes : this.#size === 0)) await this.#change()
    const bytes = this.#take()
    return { bytes, ...(this.#size === 0 && this.#ending !== undefined && { ending: this.#ending }) }
  }

  drop(): void {
    this.#isDropped = true
    this.#changed()
  }

  async #fill(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    try {
      for (let read = await reader.read(); !read.done && !this.#isDropped; read = await reader.read()) {
        this.#chunks.push(read.value)
        this.#size += read.value.byteLength
        this.#changed()
        while (this.#size >= maxPartBytes && !this.#isDropped) await this.#change()
      }
      this.#ending = 'whole'
    } catch {
      this.#ending = 'broken'
    }
    this.#changed()
  }

  #take(): Uint8Array {
    const all = new Uint8Array(this.#size)
    let at = 0
    for (const chunk of this.#chunks) {
      all.set(chunk, at)
      at += chunk.byteLength
    }
    const bytes = all.subarray(0, maxPartBytes)
    const rest = all.subarray(maxPartBytes)
    this.#chunks = rest.byteLength > 0 ? [rest] : []
    this.#size = rest.byteLength
    this.#changed()
    return bytes
  }

  /** Both sides wait here, one for bytes and the other for room, but never at the same time. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve
    })
  }
}
