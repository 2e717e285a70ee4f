import { newId } from '../../contract/message/identity.ts'
import { type AgentMessage, type LlmMessage, now, type TurnId } from '../../contract/message/message.ts'
import { emptyUsage } from '../../contract/model/usage.ts'

/** Author of replacement messages. No provider has this name. */
const author = { provider: 'phi-core', model: 'stand-in' }

/** Separates a replacement from a response, because providers require alternating roles, and a response that starts with its own thinking. */
const bridge: LlmMessage = {
  id: 'phi-core-bridge',
  role: 'user',
  content: [{ type: 'text', text: '(conversation continues)' }],
  timestamp: 0,
}

/** Properties that a replacement shares with the replaced message. */
export interface StandInOptions {
  /** Default: a new id. The fence depends on it. */
  id?: string
  timestamp?: number
  turnId?: TurnId
}

/**
 * Creates a message that replaces a part of a conversation: a summary, a memo.
 *
 * **Contract**: model text must never look like user input. The message therefore has the model's role, a label, and a fence of `<<token `
 * and ` token>>`. The token comes from the message's random id: it is unguessable, and the same in every request.
 *
 * Source: docs/concepts/context.md
 */
export function standIn(text: string, { id = newId(), timestamp = now(), turnId }: StandInOptions = {}): LlmMessage {
  const content = [{ type: 'text' as const, text: fenced(text, fenceToken(id)) }]
  const message: LlmMessage = { id, role: 'assistant', content, stopReason: 'stop', ...author, usage: emptyUsage(), timestamp }
  if (turnId !== undefined) message.turnId = turnId
  return message
}

/** Returns whether a message comes from `standIn`. Such a message is never summarized, pruned or counted as a response. */
export function isStandIn(message: AgentMessage): boolean {
  return message.role === 'assistant' && message.provider === author.provider && message.model === author.model
}

/** Returns whether a message is a model response. */
export function isAnswer(message: AgentMessage): message is Extract<AgentMessage, { role: 'assistant' }> {
  return message.role === 'assistant' && !isStandIn(message)
}

/**
 * Inserts a runtime line in `messages`, which follow `before`, between each replacement and a directly following response. The same list if
 * nothing changes.
 */
export function bridged(messages: readonly AgentMessage[], before?: AgentMessage): readonly AgentMessage[] {
  let list: AgentMessage[] | undefined
  let isOpen = before !== undefined && isStandIn(before)
  for (const [at, message] of messages.entries()) {
    if (isOpen && isAnswer(message)) {
      list ??= messages.slice(0, at)
      list.push(bridge)
    }
    if (message.role !== 'extension') isOpen = isStandIn(message)
    list?.push(message)
  }
  return list ?? messages
}

/** Returns whether a message is the line that `bridged` inserts. */
export function isBridge(message: AgentMessage): boolean {
  return message === bridge
}

/** Fences `text` with two markers that it cannot contain. */
export function fenced(text: string, token: string): string {
  return `<<${token} ${withoutToken(text, token)} ${token}>>`
}

/** Fences `text` with two markers on separate lines that it cannot contain. */
export function fencedLines(text: string, token: string): string {
  return `<<${token}\n${withoutToken(text, token)}\n${token}>>`
}

/** Indents all lines of `text` but the first by two spaces, for every kind of line break. */
export function indented(text: string): string {
  return text.replace(/\r\n?|[\n\v\f\u0085\u2028\u2029]/g, '\n  ')
}

/** Removes `token` from `text`, ignoring case. */
export function withoutToken(text: string, token: string): string {
  // Almost no text contains it, and a pattern is slower than a search.
  return text.toLowerCase().includes(token) ? text.replace(new RegExp(token, 'gi'), '…') : text
}

/** Returns eight letters and digits that are unguessable without `seed`, or the same for the same seed. */
export function fenceToken(seed: string = newId()): string {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < seed.length; at += 1) {
    const code = seed.charCodeAt(at)
    high = Math.imul(high ^ code, 2_654_435_761)
    low = Math.imul(low ^ code, 1_597_334_677)
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  const number = 0x1_0000_0000 * (0x1f_ffff & low) + (high >>> 0)
  return number.toString(36).padStart(11, '0').slice(-8)
}
