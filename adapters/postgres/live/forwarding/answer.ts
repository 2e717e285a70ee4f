import { isEventStream } from '../../../../src/base/http-answer.ts'
import { startTimer } from '../../../../src/base/timer.ts'
import { type AnswerHead, type AnswerPart, type Mailbox, maxPartBytes, type ReceivedCall, type Sending } from './mailbox.ts'

/** Where too much of an answer waits to be read: ms until it is tried again. */
const fullMs = 50
/** The same where the database has failed. */
const failedMs = 250

const nothing = new Uint8Array()

/** What answers of one process have in common. */
export interface AnswerOptions {
  mailbox: Mailbox
  /** Does something with the database, and never rejects. */
  told: (act: () => Promise<void>) => Promise<void>
  /** Aborts when nothing is answered any more. */
  signal: AbortSignal
}

/**
 * Answers a request of another process with what `act` makes of it, in parts, as they come. Where nobody waits for it any more, the signal that `act` got is
 * aborted and its answer not read on; the same where `signal` aborts. Where the database fails, a part is sent again: who asked would wait for ever. It never
 * rejects, and `act` does not either.
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

/** Whether somebody has waited for it until its end. A short answer is one part; what streams begins at once. */
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

/** Sends the parts of one answer in order. */
class PartSender {
  readonly #call: ReceivedCall
  readonly #options: AnswerOptions
  #next = 0

  constructor(call: ReceivedCall, options: AnswerOptions) {
    this.#call = call
    this.#options = options
  }

  /** Resolves with whether somebody still waits for it. */
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

  /** What the database says; undefined where it fails, and may have taken the part. */
  async #try(at: number, part: AnswerPart): Promise<Sending | undefined> {
    const { mailbox, told } = this.#options
    let done: Sending | undefined
    await told(async () => {
      done = await mailbox.answer(this.#call, at, part)
    })
    return done
  }
}

/** What was read of a body and is not sent yet: what comes while a part is on its way goes together in the next one. */
class WaitingBytes {
  #chunks: Uint8Array[] = []
  #size = 0
  #ending: 'whole' | 'broken' | undefined
  #isDropped = false
  #changed: () => void = () => undefined

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    void this.#fill(reader)
  }

  /** The next part, as soon as there is something; with `whole`, once it is full or the body has ended. */
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

  /** Both sides wait here, never at once: one for bytes, the other for room. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve
    })
  }
}
