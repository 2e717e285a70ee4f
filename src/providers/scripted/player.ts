import { raceAbort } from '../../base/abort.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { isHighSurrogate } from '../../base/text/characters.ts'
import { startTimer } from '../../base/timer.ts'
import { ConfigError } from '../../contract/errors.ts'
import type { Citation, Content, TextContent, ThinkingContent } from '../../contract/message/content.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { StreamDelta } from '../../contract/model/request.ts'
import { emptyUsage, type Usage } from '../../contract/model/usage.ts'
import type { StreamEvent } from '../../types/model/provider.ts'
import type { WholeBlock } from '../kit/decode/slots.ts'
import type { ScriptedStep, ScriptedToolCall } from './script.ts'

/** Playback speed. */
export interface Pace {
  /** Milliseconds before each chunk; 0 for no delay. */
  delayMs: number
  /** UTF-16 units per chunk. */
  chunkSize: number
  /** Awaited before each chunk. */
  gate?: () => Promise<void>
}

/** Returns `pace`. Throws `ConfigError` `invalidOption` if a field is out of range. */
export function checkedPace(pace: Pace): Pace {
  const { chunkSize, delayMs } = pace
  if (!(Number.isInteger(chunkSize) && chunkSize >= 1))
    throw new ConfigError('invalidOption', `chunkSize must be a whole number from 1, not ${chunkSize}.`)
  if (!(delayMs >= 0)) throw new ConfigError('invalidOption', `delayMs must be at least 0, not ${delayMs}.`)
  return pace
}

/** Plays one step as a stream: extends `message` and emits each chunk. Rejects with the abort reason of `signal`. */
export class Player {
  readonly #message: AssistantMessage
  readonly #emit: (event: StreamEvent) => void
  readonly #signal: AbortSignal
  readonly #pace: Pace

  constructor(message: AssistantMessage, emit: (event: StreamEvent) => void, signal: AbortSignal, pace: Pace) {
    this.#message = message
    this.#emit = emit
    this.#signal = signal
    this.#pace = pace
  }

  /** Streams the thinking and the text of `step`. */
  async prose(step: ScriptedStep): Promise<void> {
    const thinking: ThinkingContent = { type: 'thinking', thinking: '' }
    const text: TextContent = { type: 'text', text: '' }
    await this.#block(thinking, pieces(step.thinking, this.#pace.chunkSize), (delta) => {
      thinking.thinking += delta
    })
    await this.#block(text, pieces(step.text, this.#pace.chunkSize), (delta) => {
      text.text += delta
    })
    if (step.citations !== undefined) await this.#cite(text, step.citations)
  }

  /** Adds citations to the text. */
  async #cite(text: TextContent, citations: readonly Citation[]): Promise<void> {
    const contentIndex = this.#message.content.indexOf(text)
    if (contentIndex === -1)
      throw new ConfigError('invalidOption', 'A scripted response has citations but no text. Add the text that they support.')
    text.citations = []
    for (const citation of citations) {
      await this.#wait()
      text.citations.push(citation)
      this.#report({ type: 'citation', contentIndex, citation })
    }
  }

  /** Emits a whole block. A provider-executed tool replaces its earlier state. */
  async whole(block: WholeBlock): Promise<void> {
    await this.#wait()
    const { content } = this.#message
    const before = content.findIndex((each) => each.type === 'serviceTool' && block.type === 'serviceTool' && each.id === block.id)
    // Copied, so that the message does not share objects with the script.
    const shown = copyJson(block)
    const contentIndex = before === -1 ? this.#add(shown) : before
    content[contentIndex] = shown
    this.#report({ type: 'block', contentIndex, block: shown })
  }

  /** Streams a block in chunks, which `grow` appends. Without chunks, creates no block. */
  async #block(block: TextContent | ThinkingContent, deltas: readonly string[], grow: (delta: string) => void): Promise<void> {
    if (deltas.length === 0) return
    const contentIndex = this.#add(block)
    for (const delta of deltas) {
      await this.#wait()
      grow(delta)
      this.#report({ type: block.type, contentIndex, delta })
    }
  }

  /** Streams one tool call with its arguments as JSON fragments. The parsed arguments are set at the end, as with a real provider. */
  async toolCall(call: ScriptedToolCall, id: string): Promise<void> {
    const block: Content = { type: 'toolCall', id, name: call.name, arguments: {} }
    const contentIndex = this.#add(block)
    const json = JSON.stringify(call.arguments)
    for (const delta of pieces(json, this.#pace.chunkSize)) {
      await this.#wait()
      this.#report({ type: 'toolCallDelta', contentIndex, toolCallId: id, toolName: call.name, delta })
    }
    // Copied, so that the message does not share objects with the script.
    block.arguments = JSON.parse(json)
  }

  #add(block: Content): number {
    return this.#message.content.push(block) - 1
  }

  async #wait(): Promise<void> {
    if (this.#pace.gate !== undefined) await raceAbort(this.#pace.gate(), this.#signal)
    if (this.#pace.delayMs > 0) await sleep(this.#pace.delayMs, this.#signal)
    this.#signal.throwIfAborted()
  }

  #report(delta: StreamDelta): void {
    this.#emit(delta)
    // The listener may have aborted.
    this.#signal.throwIfAborted()
  }
}

/** Sets missing counts to 0, and a missing total to the sum. */
export function completeUsage(partial: Partial<Usage> = {}): Usage {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = partial
  return { ...emptyUsage(), ...partial, totalTokens: partial.totalTokens ?? input + output + cacheRead + cacheWrite }
}

/** Splits `text` into chunks of at most `size` UTF-16 units (one more to keep a surrogate pair together). Returns lists unchanged. */
function pieces(text: string | readonly string[] | undefined, size: number): readonly string[] {
  if (text === undefined || text === '') return []
  if (typeof text !== 'string') return text.filter((piece) => piece !== '')
  const result: string[] = []
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + size, text.length)
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to += 1
    result.push(text.slice(from, to))
    from = to
  }
  return result
}

/** Waits `ms`, or rejects with the abort reason of `signal`. Leaves no timer or listener behind. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let stop: (() => void) | undefined
  const wait = new Promise<void>((resolve) => {
    stop = startTimer(ms, resolve)
  })
  return raceAbort(wait, signal).finally(stop)
}
