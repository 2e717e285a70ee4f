import { parsedJson } from '../../../src/base/json/json-value.ts'
import { emptyUsage } from '../../../src/context.ts'
import type { Usage } from '../../../src/index.ts'
import type { AwsEventDecoder } from '../../../src/internal.ts'
import { type UsageReader, usageReader } from '../../../src/internal.ts'
import { createAwsEventDecoder, type KnownApi } from '../../../src/providers.ts'

/** Reads the usage from a response, next to forwarding it. */
export interface UsageMeter {
  /** Reads a chunk; `text` is its bytes, a character each. Never throws, and keeps nothing of `bytes`. */
  take(bytes: Uint8Array, text: string): void
  /** Returns the usage. `isWhole`: the response was complete; `waitedMs`: milliseconds waited for the provider. */
  used(isWhole: boolean, waitedMs: number): Usage
}

/** Longest line, and longest response without a stream, that is read; for longer ones tokens are estimated. */
const maxText = 8 * 1024 * 1024
/** A token has about four characters. */
const charsPerToken = 4
/** A long text without blanks or quotes is a file, which costs less per character. */
const file = /[\w+/=-]{2000,}/g
const tokensPerFile = 1600
const charsPerFileToken = 64
/** Models generate about fifty tokens a second. */
const msPerToken = 20
/** Upper bound of an event's overhead. */
const maxFrame = 300

/** Estimates the tokens of a request, for a provider that reported none. */
export function estimatePrompt(body: string): number {
  let [files, chars] = [0, 0]
  for (const [run] of body.matchAll(file)) {
    files++
    chars += run.length
  }
  return Math.ceil((body.length - chars) / charsPerToken + chars / charsPerFileToken) + files * tokensPerFile
}

/** Estimates the tokens of an unreported time: the model may have been thinking. */
export function estimateUnseen(waitedMs: number): number {
  return Math.ceil(waitedMs / msPerToken)
}

/**
 * Creates a meter for one response.
 *
 * **Contract**
 * - The provider's figures count: the largest of each, because they are totals. If it reported none, or was cut off first, tokens
 *   are estimated from the length of request and response, rather too many than too few.
 * - Time is linear in the bytes; events without figures are not parsed.
 */
export function usageMeter(api: KnownApi, contentType: string, promptEstimate: number): UsageMeter {
  if (contentType.includes('vnd.amazon.eventstream')) return new EventMeter(api, promptEstimate)
  return contentType.includes('text/event-stream') ? new LineMeter(api, promptEstimate) : new WholeMeter(api, promptEstimate)
}

abstract class Meter implements UsageMeter {
  readonly #reader: UsageReader
  readonly #promptEstimate: number
  #usage = emptyUsage()
  /** Characters of text outside events. */
  #chars = 0
  #events = 0
  #eventChars = 0
  /** Length of the shortest event: about the overhead of each. */
  #frame = maxFrame

  constructor(api: KnownApi, promptEstimate: number) {
    this.#reader = usageReader(api)
    this.#promptEstimate = promptEstimate
  }

  abstract take(bytes: Uint8Array, text: string): void

  used(isWhole: boolean, waitedMs: number): Usage {
    const { reportedCost, ...usage } = this.#usage
    const { input, output, cacheRead, cacheWrite, totalTokens } = usage
    const isReported = totalTokens > 0
    const prompt = input + cacheRead + cacheWrite > 0 ? input : this.#promptEstimate
    const unseen = isWhole ? 0 : estimateUnseen(waitedMs)
    const answer = isWhole && isReported ? output : Math.max(output, this.#outputEstimate(), unseen)
    const sum = prompt + answer + cacheRead + cacheWrite
    const tokens = { input: prompt, output: answer, totalTokens: isWhole ? Math.max(sum, totalTokens) : sum }
    // The charged cost is known at the end.
    return { ...usage, ...tokens, ...(isWhole && reportedCost !== undefined && { reportedCost }) }
  }

  /** Counts an event of so many characters. */
  protected event(length: number): void {
    this.#events++
    this.#eventChars += length
    if (length < this.#frame) this.#frame = length
  }

  /** Counts text outside events. */
  protected text(length: number): void {
    this.#chars += length
  }

  /** An event has at least one token. */
  #outputEstimate(): number {
    const ofEvents = (this.#eventChars - this.#events * this.#frame) / charsPerToken
    return Math.ceil(Math.max(this.#events, ofEvents) + this.#chars / charsPerToken)
  }

  /** Reads the figures of a JSON text, if it has any. */
  protected read(json: string): void {
    if (!json.includes('"usage')) return
    const value = parsedJson(json)
    if (value === undefined) return
    for (const each of Array.isArray(value) ? value : [value]) this.#usage = this.#reader(each)
  }
}

/** Server-sent events: one line of data each. */
class LineMeter extends Meter {
  #rest = ''

  take(_bytes: Uint8Array, chars: string): void {
    // Rarely present, so checked first.
    const text = chars.includes('\r') ? chars.replaceAll('\r', '\n') : chars
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#line(this.#rest + text.slice(from, end))
      this.#rest = ''
      from = end + 1
    }
    this.#rest += text.slice(from)
    if (this.#rest.length <= maxText) return
    this.text(this.#rest.length)
    this.#rest = ''
  }

  override used(isWhole: boolean, waitedMs: number): Usage {
    this.#line(this.#rest)
    this.#rest = ''
    return super.used(isWhole, waitedMs)
  }

  #line(line: string): void {
    if (!line.startsWith('data:')) return
    this.event(line.length)
    this.read(line.slice('data:'.length))
  }
}

/** A response in one piece of JSON. */
class WholeMeter extends Meter {
  #pieces: string[] = []
  #length = 0

  take(_bytes: Uint8Array, text: string): void {
    this.text(text.length)
    this.#length += text.length
    if (this.#length <= maxText) this.#pieces.push(text)
    else this.#pieces = []
  }

  override used(isWhole: boolean, waitedMs: number): Usage {
    this.read(this.#pieces.join(''))
    return super.used(isWhole, waitedMs)
  }
}

/** Messages of an AWS event stream. */
class EventMeter extends Meter {
  #decoder: AwsEventDecoder | undefined = createAwsEventDecoder((_, payload) => {
    this.event(payload.length)
    this.read(latin1.decode(payload))
  })

  take(bytes: Uint8Array, text: string): void {
    try {
      if (this.#decoder === undefined) this.text(text.length)
      else this.#decoder.feed(bytes)
    } catch {
      // Damaged or no such messages: the rest is estimated.
      this.#decoder = undefined
      this.text(text.length)
    }
  }
}

/** A character per byte: names and figures are ASCII, and nothing else is read. */
export const latin1 = new TextDecoder('latin1')
