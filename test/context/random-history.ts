import fc from 'fast-check'
import type { Content } from '../../src/contract/message/content.ts'
import type { AgentMessage, LlmMessage, StopReason, TurnId } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'

/** Numbers that `historyOf` makes a history of: cheap to generate, and they shrink to short, plain ones. */
export const seeds = (maxLength: number): fc.Arbitrary<number[]> => fc.array(fc.nat(0x3fffffff), { maxLength })

/**
 * A history of several loops: prompts, steering, images, text of many bytes, answers that failed, messages without `turnId`, extensions,
 * several calls with long results, results of another turn than their call, unanswered calls, orphans, ids used twice. Frozen: whoever
 * changes it throws.
 */
export function historyOf(numbers: readonly number[]): AgentMessage[] {
  const maker = new HistoryMaker()
  for (const number of numbers) maker.add(number)
  return maker.messages
}

class HistoryMaker {
  readonly messages: AgentMessage[] = []
  #loop = 0
  #turn = 0
  #bits = 0

  add(number: number): void {
    this.#bits = number
    const kind = this.#take(16)
    if (kind === 0) [this.#loop, this.#turn] = [this.#loop + 1, 0]
    if (kind <= 1) this.#user()
    else if (kind === 2) this.#push({ role: 'extension', id: this.#id(), kind: 'note', data: { n: number } })
    else if (kind === 3) this.#answer(0, this.#take(2) === 0 ? 'error' : 'aborted')
    else if (kind === 4) this.#result('nobody')
    else if (kind <= 7) this.#answer(0, 'stop')
    else this.#answer(1 + this.#take(3), 'toolUse')
  }

  #user(): void {
    const content: Content[] = [{ type: 'text', text: this.#text(40) }]
    if (this.#take(8) === 0) content.push({ type: 'image', data: 'A'.repeat(90_000), mimeType: 'image/png' })
    this.#push({ role: 'user', id: this.#id(), content, timestamp: 1, ...this.#turnId() })
  }

  #answer(calls: number, stopReason: StopReason): void {
    const content: Content[] = [{ type: 'text', text: this.#text(30) }]
    if (this.#take(4) === 0) content.unshift({ type: 'thinking', thinking: 'hm' })
    const ids: string[] = []
    for (let n = 0; n < calls; n += 1) {
      const id = this.#take(6) === 0 ? `again-${n}` : `call-${this.messages.length}-${n}`
      ids.push(id)
      content.push({ type: 'toolCall', id, name: 'look', arguments: { path: this.#text(3) } })
    }
    const turnId = this.#turnId()
    this.#push({
      role: 'assistant',
      id: this.#id(),
      content,
      stopReason,
      model: 'm',
      provider: 'p',
      usage: emptyUsage(),
      timestamp: 1,
      ...turnId,
    })
    const fate = this.#take(8)
    if (fate === 0) this.#turn += 1
    if (fate === 1) this.#user()
    // One in eight is left without its last result.
    for (const id of fate === 2 ? ids.slice(0, -1) : ids) this.#result(id)
    this.#turn += 1
  }

  #result(toolCallId: string): void {
    const content: Content[] = [{ type: 'text', text: this.#text(60) }]
    if (this.#take(5) === 0) content.push({ type: 'text', text: 'x'.repeat(this.#take(900)) })
    this.#push({
      role: 'toolResult',
      id: this.#id(),
      toolCallId,
      toolName: 'look',
      content,
      isError: false,
      timestamp: 1,
      ...this.#turnId(),
    })
  }

  #push(message: AgentMessage): void {
    if (message.role !== 'extension') for (const block of message.content) Object.freeze(block)
    if (message.role !== 'extension') Object.freeze(message.content)
    this.messages.push(Object.freeze(message))
  }

  #turnId(): { turnId?: TurnId } {
    return this.#take(12) === 0 ? {} : { turnId: { loopId: `loop-${this.#loop}`, turnIndex: this.#turn } }
  }

  #text(maxLines: number): string {
    const line = this.#take(3) === 0 ? '行🙂é' : 'line '
    return `${line.repeat(1 + this.#take(4))}\n`.repeat(this.#take(maxLines + 1))
  }

  #id(): string {
    return `m${this.messages.length}`
  }

  /** A number below `limit`; the same for the same seed. */
  #take(limit: number): number {
    this.#bits = (Math.imul(this.#bits, 1_103_515_245) + 12_345) & 0x7fffffff
    return (this.#bits >> 8) % limit
  }
}

/** Each result with the answer that made its call, by their ids: the latest call counts, and its first result. */
export function pairsOf(messages: readonly AgentMessage[]): [call: string, result: string][] {
  const callers = new Map<string, LlmMessage>()
  const pairs: [string, string][] = []
  for (const message of messages) {
    if (message.role === 'assistant') {
      for (const block of message.content) if (block.type === 'toolCall') callers.set(block.id, message)
    }
    const caller = message.role === 'toolResult' ? callers.get(message.toolCallId) : undefined
    if (message.role !== 'toolResult' || caller === undefined) continue
    callers.delete(message.toolCallId)
    pairs.push([caller.id, message.id])
  }
  return pairs
}

/** The pairs of a history of which only one half is in `sent`, or of which the result comes first. */
export function tornPairs(messages: readonly AgentMessage[], sent: readonly AgentMessage[]): [string, string][] {
  const places = new Map(sent.map((message, at) => [message.id, at]))
  return pairsOf(messages).filter(([call, result]) => {
    const [from, to] = [places.get(call), places.get(result)]
    return from === undefined || to === undefined ? from !== to : from > to
  })
}
