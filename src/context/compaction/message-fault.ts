import { shortened } from '../../base/text/characters.ts'
import { errorText } from '../../contract/errors.ts'
import { isObject, ownOf } from '../../contract/json.ts'

/** Required types of fields, by block type. */
const blockFields: Record<string, Record<string, string>> = {
  text: { text: 'string' },
  image: { data: 'string', mimeType: 'string' },
  thinking: { thinking: 'string' },
  toolCall: { id: 'string', name: 'string', arguments: 'object' },
}

/** A message's required fields, by role. */
const messageFields: Record<string, Record<string, string>> = {
  user: { timestamp: 'number' },
  assistant: { timestamp: 'number', stopReason: 'string', model: 'string', provider: 'string', usage: 'object' },
  toolResult: { timestamp: 'number', toolCallId: 'string', toolName: 'string', isError: 'boolean' },
  extension: { id: 'string', kind: 'string' },
}

/**
 * Returns the fault of a list of messages with its path and the expected type, or `undefined` for a valid list. The list is stored and
 * sent, so a strategy's mistake must be detected immediately.
 */
export function messagesFault(answer: unknown): string | undefined {
  if (!Array.isArray(answer)) return `${shown(answer)}; it must be a list of messages.`
  for (const [at, message] of answer.entries()) {
    const fault = messageFault(message)
    if (fault !== undefined) return `a list whose entry ${at} is no message: ${fault}`
  }
  try {
    JSON.stringify(answer)
  } catch (error) {
    return `messages that JSON cannot represent: ${errorText(error)}`
  }
  return undefined
}

/** Describes a value in a few words. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'string') return JSON.stringify(shortened(value, 40))
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'function' ? 'a function' : 'an object'
}

function messageFault(message: unknown): string | undefined {
  if (!isObject(message)) return `it is ${shown(message)}.`
  const fields = typeof message.role === 'string' ? ownOf(messageFields, message.role) : undefined
  if (fields === undefined) return `its role is ${shown(message.role)}.`
  const fault = fieldFault(message, fields)
  if (fault !== undefined || message.role === 'extension') return fault
  if (message.id !== undefined && typeof message.id !== 'string') return `id is ${shown(message.id)}.`
  if (!Array.isArray(message.content)) return `content is ${shown(message.content)}; it must be a list of blocks, as userMessage makes it.`
  for (const [at, block] of message.content.entries()) {
    if (!isObject(block)) return `content[${at}] is ${shown(block)}.`
    const own = typeof block.type === 'string' ? ownOf(blockFields, block.type) : undefined
    if (own === undefined) return `content[${at}].type is ${shown(block.type)}.`
    const wrong = fieldFault(block, own)
    if (wrong !== undefined) return `content[${at}].${wrong}`
  }
  return undefined
}

function fieldFault(value: Record<string, unknown>, fields: Record<string, string>): string | undefined {
  for (const [name, type] of Object.entries(fields)) {
    const field = value[name]
    const isRight = type === 'object' ? isObject(field) : type === 'number' ? Number.isFinite(field) : typeof field === type
    if (!isRight) return `${name} is ${shown(field)}.`
  }
  return undefined
}
