import { ConfigError } from '../contract/errors.ts'
import {
  type AgentMessage,
  type Message,
  type MessageInput,
  now,
  type PromptInput,
  type StopReason,
  type TurnId,
  text,
  withId,
} from '../contract/message/message.ts'
import { emptyUsage, type Usage } from '../contract/model/usage.ts'
import {
  aDocument,
  aFlag,
  aNumber,
  anObject,
  aText,
  checkOptions,
  either,
  json,
  type Kind,
  listOf,
  type OptionTable,
  oneOf,
  options,
  required,
  tagged,
} from './check-options.ts'

/** An object of plain JSON, of at most 200 levels. */
const aJsonObject: Kind = { ...anObject, expected: 'an object', inside: (value, name) => json.inside?.(value, name) }

const block = tagged(
  'type',
  {
    text: { text: required(aText), providerState: aJsonObject },
    image: { data: required(aText), mimeType: required(aText) },
    thinking: { thinking: required(aText), signature: aText, providerState: aJsonObject },
    toolCall: {
      id: required(aText),
      name: required(aText),
      arguments: required(aJsonObject),
      invalidArguments: aText,
      providerState: aJsonObject,
    },
  },
  true,
)

const usageTable: OptionTable<Usage> = {
  input: aNumber,
  output: aNumber,
  reasoning: aNumber,
  cacheRead: aNumber,
  cacheWrite: aNumber,
  totalTokens: aNumber,
}

const stopReasons: readonly StopReason[] = [
  ...(['stop', 'length', 'toolUse', 'error', 'aborted', 'maxTurns', 'userStop', 'handoff', 'guardRail'] as const),
  ...(['contextCompacted', 'paused'] as const),
]

const said = {
  content: required(either(aText, listOf(block))),
  timestamp: aNumber,
  id: aText,
  turnId: options<TurnId>({ loopId: required(aText), turnIndex: required(aNumber) }, true),
  nodeId: aNumber,
  parentId: aNumber,
  tags: listOf(anObject),
  provenanceHint: anObject,
}

/** Keys beyond these are kept: an older version carries what a newer one wrote. */
const message = tagged(
  'role',
  {
    user: said,
    assistant: {
      ...said,
      stopReason: oneOf(...stopReasons),
      model: aText,
      provider: aText,
      responseId: aText,
      responseModel: aText,
      errorMessage: aText,
      usage: options<Usage>(usageTable, true),
    },
    toolResult: { ...said, toolCallId: required(aText), toolName: required(aText), isError: aFlag, childLoopId: aText },
    extension: { id: said.id, kind: required(aText), data: required(json) },
  },
  true,
)

/**
 * What a caller hands in, as entries of a history: text is a user message, `content` may be text, and what may be left out is filled in. What is
 * complete already is the same object.
 *
 * Throws `ConfigError` `invalidMessage` with the path of what is no message, such as `prompt[1].content[0].type`; `name` is where it begins.
 *
 * Source: docs/concepts/messages.md
 */
export function toHistory(input: PromptInput, name: string): AgentMessage[] {
  if (typeof input === 'string') return [toEntry({ role: 'user', content: input }, name)]
  return isList(input) ? Array.from(input, (entry, at) => toEntry(entry, `${name}[${at}]`)) : [toEntry(input, name)]
}

/** As {@link toHistory}, for one message. */
export function toEntry(input: MessageInput, name: string): AgentMessage {
  return withId(toMessage(input, name))
}

/** As {@link toEntry}, without giving it an id. */
export function toMessage(input: MessageInput, name: string): Message | AgentMessage {
  const role: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, 'role') : undefined
  if (role === 'system' || role === 'developer') {
    throw new ConfigError(
      'invalidMessage',
      `${name}.role is "${role}". What a model is told beforehand is no message here: pass it as systemPrompt, to new Agent or agent.configure.`,
    )
  }
  checkOptions(input, message, name, 'invalidMessage')
  checkOptions(input, aDocument, name, 'invalidMessage')
  if (input.role === 'extension') return withId(input)
  return isWhole(input) ? input : filledIn(input)
}

// Array.isArray does not narrow readonly arrays.
function isList(input: Exclude<PromptInput, string>): input is readonly MessageInput[] {
  return Array.isArray(input)
}

type Spoken = Exclude<MessageInput, { role: 'extension' }>

function isWhole(input: Spoken): input is Message {
  if (typeof input.content === 'string' || input.timestamp === undefined) return false
  if (input.role === 'user') return true
  if (input.role === 'toolResult') return input.isError !== undefined
  const { stopReason, model, provider, usage = {} } = input
  const { input: tokens, output, reasoning, cacheRead, cacheWrite, totalTokens } = usage
  return ![stopReason, model, provider, tokens, output, reasoning, cacheRead, cacheWrite, totalTokens].includes(undefined)
}

function filledIn(input: Spoken): Message {
  const { content: said, timestamp = now() } = input
  const content = typeof said === 'string' ? [text(said)] : [...said]
  if (input.role === 'user') return { ...input, content, timestamp }
  if (input.role === 'toolResult') return { ...input, content, timestamp, isError: input.isError ?? false }
  const hasCalls = content.some(({ type }) => type === 'toolCall')
  const { stopReason = hasCalls ? 'toolUse' : 'stop', model = 'unknown', provider = 'unknown' } = input
  return { ...input, content, timestamp, stopReason, model, provider, usage: { ...emptyUsage(), ...input.usage } }
}
