import { noIds } from '../model-call.ts'

/** What Chat Completions accepts as `messages`, checked field by field; returns what is wrong, or nothing. Ids that it `issued` may be any, and repeat. */
export function chatFaults(messages: readonly unknown[], issued = noIds): string[] {
  const faults: string[] = []
  const seen = new Set<string>()
  let open: string[] = []
  let last = 'start'
  for (const [index, value] of messages.entries()) {
    const message = fields(value)
    const role = String(message.role)
    const fault = (text: string) => faults.push(`${index} (${role}): ${text}`)
    if (role === 'tool') {
      if (open.shift() !== message.tool_call_id) fault('does not answer the next open call')
      if (!isToolContent(message.content)) fault('content is not text')
    } else if (open.length > 0) fault(`follows unanswered calls ${open.join()}`)
    if (role === last && role !== 'tool') fault('repeats the role')
    if (last === 'start' && role !== 'user' && role !== 'system' && role !== 'developer') fault('is first')
    if ((role === 'system' || role === 'developer') && index !== 0) fault('is not first')
    if (role === 'assistant') {
      open = callIds(message, { seen, issued }, fault)
      if (
        message.content === null
          ? open.length === 0
          : !isText(message.content) && !isRefusal(message.content) && !isWithThinking(message.content)
      )
        fault('has no content')
    }
    if (role === 'user' && !isUserContent(message.content)) fault('content is neither text nor parts')
    last = role
  }
  if (open.length > 0) faults.push('ends with unanswered calls')
  if (last !== 'user' && last !== 'tool') faults.push(`ends with ${last}`)
  return faults
}

function callIds(
  message: Record<string, unknown>,
  { seen, issued }: { seen: Set<string>; issued: ReadonlySet<string> },
  fault: (text: string) => void,
): string[] {
  if (message.tool_calls === undefined) return []
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(fields) : []
  if (calls.length === 0) fault('tool_calls is empty')
  return calls.map((call) => {
    const id = String(call.id)
    if (issued.has(id)) seen.delete(id)
    else if (id.length < 1 || id.length > 40 || !/^\S+$/.test(id)) fault(`call id "${id}" is not legal`)
    if (seen.has(id)) fault(`call id "${id}" is repeated`)
    seen.add(id)
    const { name, arguments: args } = fields(call.function)
    if (!isText(name)) fault('call has no name')
    if (typeof args !== 'string' || !isObject(JSON.parse(args))) fault('arguments are not a JSON object')
    return id
  })
}

/** Exactly one part that refuses. */
function isRefusal(content: unknown): boolean {
  return Array.isArray(content) && content.length === 1 && fields(content[0]).type === 'refusal' && isText(fields(content[0]).refusal)
}

/** Text, or parts of text. */
function isToolContent(content: unknown): boolean {
  if (!Array.isArray(content)) return isText(content)
  return content.length > 0 && content.map(fields).every((part) => part.type === 'text' && isText(part.text))
}

function isUserContent(content: unknown): boolean {
  if (!Array.isArray(content)) return isText(content)
  return (
    content.length > 0 && content.map(fields).every((part) => (part.type === 'text' ? isText(part.text) : isImage(part) || isFile(part)))
  )
}

function isImage(part: Record<string, unknown>): boolean {
  const { url } = fields(part.image_url)
  return part.type === 'image_url' && typeof url === 'string' && /^(data:image\/|https:)/.test(url)
}

/** Bytes have a name. */
function isFile(part: Record<string, unknown>): boolean {
  const { filename, file_data: data, file_id: id } = fields(part.file)
  return part.type === 'file' && (typeof id === 'string' || (isText(filename) && String(data).startsWith('data:')))
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && isWellFormed(value)
}

function isWellFormed(text: string): boolean {
  try {
    encodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fields(value: unknown): Record<string, unknown> {
  // Test code on parsed JSON: a missing field is undefined and fails its check.
  return isObject(value) ? (value as Record<string, unknown>) : {}
}

/** Mistral's content: text and thinking as parts, none of them empty. */
function isWithThinking(content: unknown): boolean {
  const isPart = (part: unknown) => {
    const { type, text, thinking } = Object(part)
    if (type === 'text') return isText(text)
    return type === 'thinking' && Array.isArray(thinking) && thinking.length === 1 && isText(Object(thinking[0]).text)
  }
  return Array.isArray(content) && content.length > 0 && content.every(isPart)
}
