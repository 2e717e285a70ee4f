import { ToolError } from '../../contract/errors.ts'
import { type MessageInput, now, text } from '../../contract/message/message.ts'
import { callResult, oneLine } from '../call-result.ts'
import { ask, listAll, need, type RequestSetting, type ServerList, send, supports, textsIn } from './requests.ts'

/** A prompt template as a server lists it. Untrusted. */
export interface McpPrompt {
  name: string
  title?: string
  description?: string
  arguments: { name: string; description?: string; required: boolean }[]
}

/** A value to complete: an argument of a prompt, or a variable of a resource template. */
export type CompletionRequest = ({ prompt: string } | { template: string }) & {
  argument: string
  /** The value so far. */
  value: string
  /** Values of the other arguments. */
  arguments?: Readonly<Record<string, string>>
}

/** Maximum messages of a prompt, arguments of a prompt, and completed values. */
const maxMessages = 100
const maxArguments = 100
const maxValues = 100

const promptList: ServerList<McpPrompt> = {
  method: 'prompts/list',
  field: 'prompts',
  noun: 'prompt',
  read: (entry) => {
    const { name, arguments: given }: Record<string, unknown> = Object(entry)
    if (typeof name !== 'string' || name === '') return []
    const args: unknown[] = Array.isArray(given) ? given.slice(0, maxArguments) : []
    return [{ name, ...textsIn(entry, ['title', 'description']), arguments: args.flatMap(readArgument) }]
  },
}

function readArgument(entry: unknown): McpPrompt['arguments'] {
  const { name, required }: Record<string, unknown> = Object(entry)
  if (typeof name !== 'string' || name === '') return []
  return [{ name, ...textsIn(entry, ['description']), required: required === true }]
}

/** Lists all prompts; none if the server has no prompts. */
export async function listPrompts(setting: RequestSetting, signal: AbortSignal | undefined): Promise<McpPrompt[]> {
  if (!supports(setting, 'prompts')) return []
  return listAll(promptList, (request) => send(setting, request, signal))
}

/** Returns a prompt's messages. Content of unknown kinds becomes a note in its message. */
export async function promptMessages(
  setting: RequestSetting,
  name: string,
  args: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<MessageInput[]> {
  need(setting, 'prompts')
  const { messages } = await ask(setting, { method: 'prompts/get', params: { name, arguments: { ...args } } }, signal)
  const given: unknown[] = Array.isArray(messages) ? messages : []
  if (given.length === 0) throw new ToolError('failed', `The MCP prompt "${oneLine(name)}" has no messages.`)
  if (given.length > maxMessages)
    throw new ToolError('failed', `The MCP prompt "${oneLine(name)}" has ${given.length} messages, but the limit is ${maxMessages}.`)
  return given.map(readMessage)
}

function readMessage(entry: unknown): MessageInput {
  const { role, content: given }: Record<string, unknown> = Object(entry)
  const { content } = callResult({ content: Array.isArray(given) ? given : [given] })
  if (role === 'assistant') {
    // Providers accept only text in responses that they did not write.
    const texts = content.map((block) => (block.type === 'text' ? block : text(`[${block.type} in a response, left out]`)))
    return { role, content: texts, timestamp: now() }
  }
  const note = role === 'user' ? [] : [text(`[message of the unknown role ${oneLine(role, 60)}]`)]
  return { role: 'user', content: [...note, ...content], timestamp: now() }
}

/** Returns values that complete an argument, at most 100, or none if the server does not complete. */
export async function completions(
  setting: RequestSetting,
  { argument, value, arguments: others, ...of }: CompletionRequest,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  if (!supports(setting, 'completions')) return []
  const ref = 'prompt' in of ? { type: 'ref/prompt', name: of.prompt } : { type: 'ref/resource', uri: of.template }
  const context = others === undefined ? undefined : { arguments: { ...others } }
  const params = { ref, argument: { name: argument, value }, ...(context !== undefined && { context }) }
  const { completion } = await ask(setting, { method: 'completion/complete', params }, signal)
  const values: unknown = Object(completion).values
  if (!Array.isArray(values)) return []
  return values.filter((one) => typeof one === 'string').slice(0, maxValues)
}
