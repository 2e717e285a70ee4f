import { noIds } from '../model-call.ts'
import type { WireMessages } from './call.ts'

/**
 * What the Messages service demands of `messages`, as far as a history can break it:
 *
 * ```
 * messages  = user (assistant user)*                      roles alternate; user first, user last
 * user      = tool_result* (text | image | document)*     at least one block; results exactly those of the calls just before
 * assistant = (thinking | redacted_thinking)* … text | tool_use     at least one block; does not end with reasoning
 * ids       = [a-zA-Z0-9_-]{1,64}, unique                 names likewise
 * text      = not blank, well-formed Unicode              also inside results; failed results hold text only
 * thinking  = has a signature
 * ```
 *
 * `issued` are ids that the service gave, which may be any. Returns what is wrong; an empty list means the request is accepted.
 */
export function anthropicFaults(messages: WireMessages, issued = noIds): string[] {
  const faults: string[] = []
  const used = new Set<string>()
  let pending: string[] = []
  messages.forEach(({ role, content }, index) => {
    const at = `message ${index}`
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) faults.push(`${at}: role ${role}`)
    if (content.length === 0) faults.push(`${at}: empty`)
    const results = content.filter((block) => block.type === 'tool_result').map((block) => String(block.tool_use_id))
    if (JSON.stringify(results) !== JSON.stringify(pending)) faults.push(`${at}: results ${results} for calls ${pending}`)
    pending = []
    let isPastResults = false
    for (const block of content) {
      faults.push(...blockFaults(block, role, issued).map((fault) => `${at}: ${fault}`))
      if (block.type === 'tool_result' && isPastResults) faults.push(`${at}: a result behind other blocks`)
      if (block.type !== 'tool_result') isPastResults = true
      if (block.type !== 'tool_use') continue
      const id = String(block.id)
      if (used.has(id)) faults.push(`${at}: id ${id} twice`)
      used.add(id)
      pending.push(id)
    }
    if (role === 'assistant' && /thinking/.test(String(content.at(-1)?.type))) faults.push(`${at}: ends with reasoning`)
  })
  if (messages.at(-1)?.role !== 'user') faults.push('does not end with a user message')
  return faults
}

function blockFaults(block: Record<string, unknown>, role: string, issued: ReadonlySet<string>): string[] {
  const allowed = role === 'user' ? ['text', 'image', 'document', 'tool_result'] : ['text', 'thinking', 'redacted_thinking', 'tool_use']
  if (!allowed.includes(String(block.type))) return [`${block.type} from ${role}`]
  if (block.type === 'text') return textFaults(block.text)
  if (block.type === 'thinking') return typeof block.signature === 'string' && block.signature !== '' ? [] : ['unsigned thinking']
  if (block.type === 'tool_use') {
    const isObject = typeof block.input === 'object' && block.input !== null && !Array.isArray(block.input)
    return [...idFaults(block.id, issued), ...idFaults(block.name), ...(isObject ? [] : ['input is no object'])]
  }
  if (block.type !== 'tool_result') return []
  const parts: unknown[] = Array.isArray(block.content) ? block.content : [{ type: 'text', text: block.content }]
  const faults = parts.length === 0 ? ['empty result'] : []
  for (const part of parts) {
    const { type, text } = part as { type?: unknown; text?: unknown }
    if (type === 'text') faults.push(...textFaults(text))
    else if (block.is_error === true) faults.push(`${type} in a failed result`)
  }
  return [...faults, ...idFaults(block.tool_use_id, issued)]
}

function idFaults(id: unknown, issued = noIds): string[] {
  return issued.has(String(id)) || /^[a-zA-Z0-9_-]{1,64}$/.test(String(id)) ? [] : [`illegal id ${id}`]
}

function textFaults(text: unknown): string[] {
  if (typeof text !== 'string' || text.trim() === '') return ['blank text']
  return /\p{Surrogate}/u.test(text) ? ['lone surrogate'] : []
}
