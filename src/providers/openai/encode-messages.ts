import type { AssistantMessage, Message } from '../../types/message.ts'
import type { StreamRequest } from '../../types/provider.ts'
import { toJson } from '../shared/json-text.ts'
import { normalise } from '../shared/normalise.ts'
import type { Dialect } from './dialect.ts'
import { userOfParts } from './encode-message.ts'

/** What a backend that wants an answer between results and the next question is told the model said. */
const bridge = toJson({ role: 'assistant', content: 'The tool results are in.' })

/**
 * The `messages` of a request as JSON text, glued from pieces that are encoded once per message.
 *
 * **Contract**
 * - Tool messages carry text only; images of a group of results follow in one user message after the last of them.
 * - Neighbouring user messages become one, and so do neighbouring assistant messages without calls between them.
 *
 * Source: reference/providers.md §0 "Replaying", §2 "Images", ARCHITECTURE §4.
 */
export function encodeMessages(request: StreamRequest, dialect: Dialect): string {
  const { encoder, compat } = dialect
  const pieces: string[] = request.systemPrompt === '' ? [] : [encodeSystem(request, dialect)]
  const messages = normalise(request.messages, dialect.target)
  let at = 0
  while (at < messages.length) {
    const answers = runOf(messages, at, 'assistant')
    const [answer] = answers
    if (answer !== undefined) pieces.push(encoder.assistant(answers.length === 1 ? answer : mergedAnswer(answer, answers)))
    at += answers.length

    const results = runOf(messages, at, 'toolResult').map(encoder.toolResult)
    for (const { json } of results) pieces.push(json)
    at += results.length

    const users = runOf(messages, at, 'user')
    const images = results.map(({ imageParts }) => imageParts).filter((parts) => parts !== '')
    at += users.length
    if (users.length + images.length === 0) continue
    if (results.length > 0 && compat.requiresAssistantAfterToolResult) pieces.push(bridge)
    const [only] = users
    if (only !== undefined && users.length + images.length === 1) pieces.push(encoder.user(only))
    else pieces.push(userOfParts([...images, ...users.map(encoder.userParts)].join(',')))
  }
  if (marksCache(request, dialect, 'cacheMessages')) pieces.push(withCacheMark(pieces.pop() ?? ''))
  return `[${pieces.join(',')}]`
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
