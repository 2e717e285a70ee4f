import { parsedJson } from '../../../src/base/json/json-value.ts'
import { emptyUsage } from '../../../src/context.ts'
import type { Usage } from '../../../src/index.ts'
import type { AwsEventDecoder } from '../../../src/internal.ts'
import { type UsageReader, usageReader } from '../../../src/internal.ts'
import { createAwsEventDecoder, type KnownApi } from '../../../src/providers.ts'

/** Reads the usage from a response while it is forwarded. */
export interface UsageMeter {
  /** Reads a chunk. `text` contains one character per byte. Never throws, and does not retain `bytes`. */
  take(bytes: Uint8Array, text: string): void
  /** Returns the usage. `isWhole` is whether the response was complete. `waitedMs` is the time spent waiting for the provider. */
  used(isWhole: boolean, waitedMs: number): Usage
}

/** Maximum length to parse, for a line and for a response that is not streamed. Beyond it, tokens are estimated. */
const maxText = 8 * 1024 * 1024
/** Estimated characters per token. */
const charsPerToken = 4
/** Matches long text without blanks or quotes, which is a file and costs less per character. */
const file = /[\w+/=-]{2000,}/g
const tokensPerFile = 1600
const charsPerFileToken = 64
/** Estimated tokens generated per second. */
const msPerToken = 20
/** Upper bound for an event's overhead. */
const maxFrame = 300

/** Estimates the tokens of a request if the provider reported none. */
export function estimatePrompt(body: string): number {
  let [files, chars] = [0, 0]
  for (const [run] of body.matchAll(file)) {
    files++
    chars += run.length
  }
  return Math.ceil((body.length - chars) / charsPerToken + chars / charsPerFileToken) + files * tokensPerFile
}

/** Estimates the tokens of unreported time, in which the model may have been thinking. */
export function estimateUnseen(waitedMs: number): number {
  return Math.ceil(waitedMs / msPerToken)
}

/**
 * Creates a meter for one response.
 *
 * **Contract**
 * - Uses the provider's counts. They are running totals, so the maximum of each count applies. If there are none, or the response was
 *   interrupted, overestimates tokens from the length of request and response.
 * - Takes time linear in the number of bytes. Does not parse events without counts.
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
  /** Length of the shortest event, which approximates the overhead per event. */
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
    // The provider reports the charged cost at the end.
    return { ...usage, ...tokens, ...(isWhole && reportedCost !== undefined && { reportedCost }) }
  }

  /** Counts an event with the given number of characters. */
  protected event(length: number): void {
    this.#events++
    this.#eventChars += length
    if (length < this.#frame) this.#frame = length
  }

  /** Counts text outside events. */
  protected text(length: number): void {
    this.#chars += length
  }

  /** Estimates the response's tokens. An event contains at least one token. */
  #outputEstimate(): number {
    const ofEvents = (this.#eventChars - this.#events * this.#frame) / charsPerToken
    return Math.ceil(Math.max(this.#events, ofEvents) + this.#chars / charsPerToken)
  }

  /** Reads the counts in a JSON text, if any. */
  protected read(json: string): void {
    if (!json.includes('"usage')) return
    const value = parsedJson(json)
    if (value === undefined) return
    for (const each of Array.isArray(value) ? value : [value]) this.#usage = this.#reader(each)
  }
}

/** Server-sent events, each with one line of data. */
class LineMeter extends Meter {
  #rest = ''

  take(_bytes: Uint8Array, chars: string): void {
    // Carriage returns are rare, so check for one first.
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

/** A response that is a single JSON document. */
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

/** Messages in an AWS event stream. */
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
      // Estimate the rest if messages are damaged or in another format.
      this.#decoder = undefined
      this.text(text.length)
    }
  }
}

/** Decodes one character per byte, which is sufficient because the meter reads only ASCII names and numbers. */
export const latin1 = new TextDecoder('latin1')
