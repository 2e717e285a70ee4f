import { noIds } from '../model-call.ts'
/** An input item, as far as tests read it. */
export type InputItem = Record<string, unknown>

/**
 * What the Responses API demands of `input`, as far as a history can break it:
 *
 * ```
 * input     = [system] user item* (user | output)
 * item      = user | answer | reasoning (message | call) | call | output
 * user      = text and images, at least one                     answer = text
 * call      = legal name, JSON object                           the outputs of an answer's calls follow it, once each, nothing between
 * output    = text, or text and images, at least one; of an open call
 * message   = an id of its own, `completed`, text
 * reasoning = right before the very item that it led to, and that one never without it
 * ids       = call_id 1 to 64 visible characters; item ids 64 of [a-zA-Z0-9_-] behind their prefix; all unique
 * text      = not blank (unless under an id), well-formed Unicode
 * ```
 *
 * `ledTo` names the item behind each reasoning item; a call_id of `issued` may be any, and repeat. Returns what is wrong; an empty list means the request is accepted.
 */
export function responsesFaults(input: readonly InputItem[], ledTo: ReadonlyMap<string, string>, issued = noIds): string[] {
  const faults: string[] = []
  const open = new Set<string>()
  const used = new Set<string>()
  let isAnswering = false
  const cause = new Map([...ledTo].map(([reasoning, item]) => [item, reasoning]))
  input.forEach((item, index) => {
    const kind = String(item.type ?? item.role)
    const fault = (text: string) => faults.push(`${index} (${kind}): ${text}`)
    if (isSystem(item)) {
      if (index !== 0 || !isText(item.content)) fault('out of place')
      return
    }
    if (item.id !== undefined && used.has(String(item.id))) fault(`id ${item.id} twice`)
    used.add(String(item.id ?? ''))
    if (item.id !== undefined && kind !== 'reasoning') {
      if (!/^(msg|fc)_[\w-]{1,60}$/.test(String(item.id))) fault(`illegal id ${item.id}`)
      const reasoning = cause.get(String(item.id))
      if (reasoning !== undefined && input[index - 1]?.id !== reasoning) fault(`without its reasoning ${reasoning}`)
    }
    if (kind === 'reasoning') {
      const next = input[index + 1]
      if (next?.id !== ledTo.get(String(item.id))) fault(`is followed by ${next?.id}`)
      return
    }
    if (kind === 'function_call') callFaults(item, { used, issued }, fault)
    if (kind === 'function_call' && isAnswering) fault(`before the results of ${[...open]}`)
    if (kind === 'function_call') open.add(String(item.call_id))
    else if (kind === 'function_call_output') {
      if (!open.delete(String(item.call_id))) fault(`answers no call ${item.call_id}`)
      isAnswering = open.size > 0
      if (!isText(item.output) && !areParts(item.output, ['input_text', 'input_image', 'input_file'])) fault('has no output')
    } else if (open.size > 0 && (isAnswering || kind === 'user')) fault(`before the results of ${[...open]}`)
    else if (kind === 'message') {
      if (item.status !== 'completed' || !Array.isArray(item.content) || item.content.length === 0) fault('is no whole message')
    } else if (kind === 'assistant') {
      if (!isText(item.content)) fault('is blank')
    } else if (kind !== 'user' || !areParts(item.content, ['input_text', 'input_image', 'input_file'])) fault('is nothing known')
  })
  if (open.size > 0) faults.push(`no results of ${[...open]}`)
  const first = input.find((item) => !isSystem(item))
  if (first?.role !== 'user') faults.push('does not begin with the user')
  const last = input.at(-1)
  if (last?.role !== 'user' && last?.type !== 'function_call_output') faults.push('ends with an answer')
  return faults
}

function isSystem({ role }: InputItem): boolean {
  return role === 'developer' || role === 'system'
}

function callFaults(
  item: InputItem,
  { used, issued }: { used: Set<string>; issued: ReadonlySet<string> },
  fault: (text: string) => void,
): void {
  const id = String(item.call_id)
  if (issued.has(id)) used.delete(id)
  else if (!/^[\x21-\x7e]{1,64}$/.test(id)) fault(`illegal call_id ${id}`)
  if (used.has(id)) fault(`call_id ${id} twice`)
  used.add(id)
  if (!/^[\w-]{1,64}$/.test(String(item.name))) fault(`illegal name ${item.name}`)
  const args: unknown = JSON.parse(String(item.arguments))
  if (typeof args !== 'object' || args === null || Array.isArray(args)) fault('arguments are no object')
}

function areParts(content: unknown, types: readonly string[]): boolean {
  if (!Array.isArray(content) || content.length === 0) return false
  return content.every((part: InputItem) => {
    if (!types.includes(String(part.type))) return false
    if (part.type === 'input_file')
      return [part.file_data, part.file_url, part.file_id].filter((source) => source !== undefined).length === 1
    return part.type === 'input_text' ? isText(part.text) : /^(data:image\/|https:)/.test(String(part.image_url))
  })
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && !/\p{Surrogate}/u.test(value)
}
