import type { AssistantMessage, Message } from '../../types/message.ts'
import type { StreamRequest } from '../../types/provider.ts'
import { toJson } from '../shared/json-text.ts'
import { normalise } from '../shared/normalise.ts'
import type { Dialect } from './dialect.ts'
import { userOfParts } from './encode-message.ts'

/** What a backend that wants an answer between results and the next question is told the model said. */
const bridge = toJson({ role: 'assistant', content: 'The tool results are in.' })

/** What was made of a conversation at the last call: `text` stands for its first `count` messages. */
interface Prefix {
  messages: readonly Message[]
  count: number
  text: string
}

/** By dialect and first message, which is what a conversation keeps. */
const prefixes = new WeakMap<Dialect, WeakMap<Message, Prefix>>()

/**
 * The `messages` of a request as JSON text, glued from pieces that are encoded once per message; what the last call of the same
 * conversation glued is gone on with.
 *
 * **Contract**
 * - Tool messages carry text only; images of a group of results follow in one user message after the last of them.
 * - Neighbouring user messages become one, and so do neighbouring assistant messages without calls between them.
 *
 * Source: reference/providers.md §0 "Replaying", §2 "Images", ARCHITECTURE §4.
 */
export function encodeMessages(request: StreamRequest, dialect: Dialect): string {
  const messages = normalise(request.messages, dialect.target)
  const known = knownPrefix(messages, dialect)
  let text = known?.text ?? ''
  let at = known?.count ?? 0
  let piece = ''
  let start = at
  while (at < messages.length) {
    start = at
    text = joined(text, piece)
    const pieces: string[] = []
    at = encodeGroup(messages, at, dialect, pieces)
    if (at === messages.length && marksCache(request, dialect, 'cacheMessages')) pieces.push(withCacheMark(pieces.pop() ?? ''))
    piece = pieces.join(',')
  }
  // The last group may grow until the next call: more results, more of the user.
  remember({ messages, count: start, text }, dialect)
  const system = request.systemPrompt === '' ? '' : encodeSystem(request, dialect)
  return `[${joined(system, joined(text, piece))}]`
}

/** Encodes answers, their results and what the user said then, into `pieces`; returns where the next group begins. */
function encodeGroup(messages: readonly Message[], from: number, { encoder, compat }: Dialect, pieces: string[]): number {
  const answers = runOf(messages, from, 'assistant')
  const [answer] = answers
  if (answer !== undefined) pieces.push(encoder.assistant(answers.length === 1 ? answer : mergedAnswer(answer, answers)))

  const results = runOf(messages, from + answers.length, 'toolResult').map(encoder.toolResult)
  for (const { json } of results) pieces.push(json)

  const users = runOf(messages, from + answers.length + results.length, 'user')
  const images = results.map(({ imageParts }) => imageParts).filter((parts) => parts !== '')
  const said = users.length + images.length
  if (said > 0 && results.length > 0 && compat.requiresAssistantAfterToolResult) pieces.push(bridge)
  const [only] = users
  if (only !== undefined && said === 1) pieces.push(encoder.user(only))
  else if (said > 0) pieces.push(userOfParts([...images, ...users.map(encoder.userParts)].join(',')))
  return from + answers.length + results.length + users.length
}

function knownPrefix(messages: readonly Message[], dialect: Dialect): Prefix | undefined {
  const [first] = messages
  const known = first === undefined ? undefined : prefixes.get(dialect)?.get(first)
  // A group begins with an answer; anything else would belong to the group before it.
  if (known === undefined || messages[known.count]?.role !== 'assistant') return undefined
  for (let at = 0; at < known.count; at++) if (messages[at] !== known.messages[at]) return undefined
  return known
}

function remember(prefix: Prefix, dialect: Dialect): void {
  const [first] = prefix.messages
  if (first === undefined) return
  let byFirst = prefixes.get(dialect)
  if (byFirst === undefined) {
    byFirst = new WeakMap()
    prefixes.set(dialect, byFirst)
  }
  byFirst.set(first, prefix)
}

function joined(text: string, more: string): string {
  return text === '' || more === '' ? text + more : `${text},${more}`
}

function encodeSystem(request: StreamRequest, dialect: Dialect): string {
  const json = toJson({ role: dialect.systemRole, content: request.systemPrompt })
  return marksCache(request, dialect, 'cacheSystem') ? withCacheMark(json) : json
}

/** The messages of one role that stand together from `at` on. */
function runOf<Role extends Message['role']>(messages: readonly Message[], at: number, role: Role): Extract<Message, { role: Role }>[] {
  const run: Extract<Message, { role: Role }>[] = []
  for (let next = messages[at]; next !== undefined && isOf(next, role); next = messages[at + run.length]) run.push(next)
  return run
}

function isOf<Role extends Message['role']>(message: Message, role: Role): message is Extract<Message, { role: Role }> {
  return message.role === role
}

function mergedAnswer(first: AssistantMessage, run: readonly AssistantMessage[]): AssistantMessage {
  return { ...first, content: run.flatMap(({ content }) => content) }
}

/** OpenRouter passes cache breakpoints on to Anthropic; the other services it serves cache by themselves. */
function marksCache({ model, cache }: StreamRequest, { compat }: Dialect, part: 'cacheSystem' | 'cacheMessages'): boolean {
  if (compat.thinkingFormat !== 'openRouter' || !model.id.startsWith('anthropic/')) return false
  return cache.type === 'auto' || (cache.type === 'manual' && cache[part])
}

/** An encoded message with a breakpoint on its last part. */
function withCacheMark(json: string): string {
  // Our own JSON: content is a string or a list of parts.
  const message = JSON.parse(json) as { content: string | Record<string, unknown>[] }
  const parts = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  const last = parts.pop()
  return JSON.stringify({ ...message, content: [...parts, { ...last, cache_control: { type: 'ephemeral' } }] })
}
