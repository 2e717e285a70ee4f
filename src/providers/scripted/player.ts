import type { Content, TextContent, ThinkingContent } from '../../types/content.ts'
import { ConfigError } from '../../types/errors.ts'
import type { AssistantMessage } from '../../types/message.ts'
import type { StreamDelta, StreamEvent } from '../../types/provider.ts'
import type { Usage } from '../../types/usage.ts'
import { abortable, sleep } from './abortable.ts'
import { pieces } from './pieces.ts'
import type { ScriptedStep, ScriptedToolCall } from './script.ts'

/** How fast an answer is played. */
export interface Pace {
  /** Wait before each piece, in ms; 0 plays without a pause. */
  delayMs: number
  /** UTF-16 units per piece. */
  chunkSize: number
  /** Awaited before each piece. */
  gate?: () => Promise<void>
}

/** `pace`, or `ConfigError` `invalidOption` when a field is out of range. */
export function checkedPace(pace: Pace): Pace {
  const { chunkSize, delayMs } = pace
  if (!(Number.isInteger(chunkSize) && chunkSize >= 1))
    throw new ConfigError('invalidOption', `chunkSize must be a whole number from 1, not ${chunkSize}.`)
  if (!(delayMs >= 0)) throw new ConfigError('invalidOption', `delayMs must be at least 0, not ${delayMs}.`)
  return pace
}

/** Plays one step as a stream: grows `message`, reports each piece through `emit`, stops with the abort reason when `signal` aborts. */
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

  /** Streams the thinking, then the text of `step`. */
  async prose(step: ScriptedStep): Promise<void> {
    const thinking: ThinkingContent = { type: 'thinking', thinking: '' }
    const text: TextContent = { type: 'text', text: '' }
    await this.#block(thinking, pieces(step.thinking, this.#pace.chunkSize), (delta) => {
      thinking.thinking += delta
    })
    await this.#block(text, pieces(step.text, this.#pace.chunkSize), (delta) => {
      text.text += delta
    })
  }

  /** Streams a block in pieces, each of which `grow` puts into it; without any there is no block. */
  async #block(block: TextContent | ThinkingContent, deltas: readonly string[], grow: (delta: string) => void): Promise<void> {
    if (deltas.length === 0) return
    const contentIndex = this.#add(block)
    for (const delta of deltas) {
      await this.#wait()
      grow(delta)
      this.#report({ type: block.type, contentIndex, delta })
    }
  }

  /** Streams one tool call, its arguments as fragments of JSON. They are set once they are whole, as with a real service. */
  async toolCall(call: ScriptedToolCall, id: string): Promise<void> {
    const block: Content = { type: 'toolCall', id, name: call.name, arguments: {} }
    const contentIndex = this.#add(block)
    const json = JSON.stringify(call.arguments)
    for (const delta of pieces(json, this.#pace.chunkSize)) {
      await this.#wait()
      this.#report({ type: 'toolCallDelta', contentIndex, toolCallId: id, toolName: call.name, delta })
    }
    // Through JSON, so that the message shares nothing with the script.
    block.arguments = JSON.parse(json)
  }

  #add(block: Content): number {
    return this.#message.content.push(block) - 1
  }

  async #wait(): Promise<void> {
    if (this.#pace.gate !== undefined) await abortable(this.#pace.gate(), this.#signal)
    if (this.#pace.delayMs > 0) await sleep(this.#pace.delayMs, this.#signal)
    this.#signal.throwIfAborted()
  }

  #report(delta: StreamDelta): void {
    this.#emit(delta)
    // The listener may have aborted.
    this.#signal.throwIfAborted()
  }
}

/** `partial` with zeros for what is missing and the sum as the total. */
export function completeUsage(partial: Partial<Usage> = {}): Usage {
  const { input = 0, output = 0, reasoning = 0, cacheRead = 0, cacheWrite = 0 } = partial
  return { input, output, reasoning, cacheRead, cacheWrite, totalTokens: partial.totalTokens ?? input + output + cacheRead + cacheWrite }
}
