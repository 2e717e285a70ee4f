import type { ToolCallContent } from '../../types/content.ts'
import { type Message, toolCallsOf } from '../../types/message.ts'
import { toJson } from '../shared/json-text.ts'
import type { MessageEncoder } from './encode-message.ts'

type Role = 'user' | 'model'

const opening: Record<Role, string> = { user: '{"role":"user","parts":[', model: '{"role":"model","parts":[' }

/**
 * The `contents` of a request as JSON text. `preamble` opens the first user content, for models without a place for instructions.
 *
 * **Contract**
 * - Neighbours of one role become one content: all results of parallel calls stand in one, before what the user said then.
 * - Each result carries the name of its call, whatever it says itself.
 *
 * Source: reference/providers.md §0 "Replaying" 6, §5.
 */
export function encodeContents(messages: readonly Message[], encoder: MessageEncoder, preamble: string): string {
  // Flat strings, joined once: much cheaper than growing one string per message.
  const pieces: string[] = []
  let role: Role | undefined
  const add = (next: Role, parts: string): void => {
    if (parts === '') return
    if (role === next) pieces.push(',', parts)
    else pieces.push(role === undefined ? opening[next] : `]},${opening[next]}`, parts)
    role = next
  }
  let calls: readonly ToolCallContent[] = []
  let answered = 0
  let media: string[] = []
  if (preamble !== '') add('user', toJson({ text: preamble }))
  for (const message of messages) {
    if (message.role === 'toolResult') {
      const result = encoder.result(message, calls[answered++]?.name ?? message.toolName)
      add('user', result.part)
      if (result.media !== '') media.push(result.media)
      continue
    }
    add('user', media.join(','))
    media = []
    if (message.role === 'user') add('user', encoder.user(message))
    else {
      add('model', encoder.answer(message))
      calls = toolCallsOf(message.content)
      answered = 0
    }
  }
  add('user', media.join(','))
  return `[${pieces.join('')}]}]`
}
