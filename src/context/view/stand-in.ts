import { newId } from '../../contract/message/identity.ts'
import { type AgentMessage, type LlmMessage, now, type TurnId } from '../../contract/message/message.ts'
import { emptyUsage } from '../../contract/model/usage.ts'

/** Who wrote a stand-in. No service has this name. */
const author = { provider: 'phi-core', model: 'stand-in' }

/** Between a stand-in and an answer: services want roles to take turns, and an answer to begin with its own thinking. */
const bridge: LlmMessage = {
  id: 'phi-core-bridge',
  role: 'user',
  content: [{ type: 'text', text: '(conversation continues)' }],
  timestamp: 0,
}

/** What a stand-in may share with the message it stands for. */
export interface StandInOptions {
  /** Default: a new one. The fence is made of it. */
  id?: string
  timestamp?: number
  turnId?: TurnId
}

/**
 * A message that stands for a part of a conversation that is not sent: a summary, a memo.
 *
 * **Contract**: what a model wrote never passes for words of the user. So it stands in the role of the model, labelled, between `<<token ` and
 * ` token>>`. The token is made of the message's random id: it cannot be guessed, and is the same in every request.
 *
 * Source: docs/concepts/context.md
 */
export function standIn(text: string, { id = newId(), timestamp = now(), turnId }: StandInOptions = {}): LlmMessage {
  const content = [{ type: 'text' as const, text: fenced(text, fenceToken(id)) }]
  const message: LlmMessage = { id, role: 'assistant', content, stopReason: 'stop', ...author, usage: emptyUsage(), timestamp }
  if (turnId !== undefined) message.turnId = turnId
  return message
}

/** Whether a message was made by `standIn`. It is no answer: it is not summarised, pruned or counted as one. */
export function isStandIn(message: AgentMessage): boolean {
  return message.role === 'assistant' && message.provider === author.provider && message.model === author.model
}

/** Whether a message is what a model answered. */
export function isAnswer(message: AgentMessage): message is Extract<AgentMessage, { role: 'assistant' }> {
  return message.role === 'assistant' && !isStandIn(message)
}

/**
 * `messages`, which come after `before`, with a line of the runtime between each stand-in and an answer right behind it. The same list where
 * there is nothing to put in.
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

/** Whether a message is the line that `bridged` puts in. */
export function isBridge(message: AgentMessage): boolean {
  return message === bridge
}

/** `text` between two marks that it cannot hold itself. */
export function fenced(text: string, token: string): string {
  return `<<${token} ${withoutToken(text, token)} ${token}>>`
}

/** `text` over lines of its own between two marks that it cannot hold itself. */
export function fencedLines(text: string, token: string): string {
  return `<<${token}\n${withoutToken(text, token)}\n${token}>>`
}

/** `text` with all of its lines but the first indented by two spaces, whatever ends a line. */
export function indented(text: string): string {
  return text.replace(/\r\n?|[\n\v\f\u0085\u2028\u2029]/g, '\n  ')
}

/** `text` without `token`, in whatever case. */
export function withoutToken(text: string, token: string): string {
  // Nearly no text has it, and a pattern costs more than a look.
  return text.toLowerCase().includes(token) ? text.replace(new RegExp(token, 'gi'), '…') : text
}

/** Eight letters and digits that nobody can guess who does not know `seed`; the same for the same seed. */
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
