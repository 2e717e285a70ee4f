import * as z from 'zod'
import type { JsonObject } from '../contract/json.ts'
import { type AgentMessage, type Message, type MessageEnvelope, stopReason } from '../contract/message/message.ts'
import { anyJson, count, fitting, present, renamed, type SpecCodec, specCodec } from './codec.ts'
import { contentCodec, contentSchema } from './content.ts'
import { envelopeFromSpec, envelopeToSpec, identified } from './envelope.ts'
import { usageCodec, usageSchema } from './usage.ts'

const content = z.array(contentSchema)

const stopReasons = z.enum(stopReason.words)

const user = z
  .looseObject({ role: z.literal('user'), content, timestamp: count })
  .transform(({ id, turnId, provenanceHint, nodeId, parentId, tags, ...rest }) => ({
    ...rest,
    ...envelopeFromSpec({ id, turnId, provenanceHint, nodeId, parentId, tags }),
  }))

const assistant = z
  .looseObject({
    role: z.literal('assistant'),
    content,
    stopReason: stopReasons,
    model: z.string(),
    provider: z.string(),
    usage: usageSchema,
    timestamp: count,
    error_message: z.string().nullish(),
  })
  // A camelCase `errorMessage` means nothing there, so it must mean nothing here.
  .transform(
    ({ id, turnId, provenanceHint, nodeId, parentId, tags, error_message, errorMessage: _, responseId, responseModel, ...rest }) => ({
      ...rest,
      ...fitting('responseId', z.string(), responseId),
      ...fitting('responseModel', z.string(), responseModel),
      ...present('errorMessage', error_message),
      ...envelopeFromSpec({ id, turnId, provenanceHint, nodeId, parentId, tags }),
    }),
  )

const toolResult = z
  .looseObject({
    role: z.literal('toolResult'),
    toolCallId: z.string(),
    toolName: z.string(),
    content,
    isError: z.boolean(),
    timestamp: count,
  })
  .transform(({ id, turnId, provenanceHint, nodeId, parentId, tags, childLoopId, ...rest }) => ({
    ...rest,
    ...fitting('childLoopId', z.string(), childLoopId),
    ...envelopeFromSpec({ id, turnId, provenanceHint, nodeId, parentId, tags }),
  }))

const extension = z.looseObject({ role: z.literal('extension'), kind: z.string(), data: anyJson })

/** A message as a request holds it: the extras are those it has, and no id is made up. */
type BareMessage = Message & Partial<MessageEnvelope>

export const bareMessageSchema: z.ZodType<BareMessage> = z.discriminatedUnion('role', [user, assistant, toolResult])

export const toolResultMessageSchema = toolResult.transform(identified)

export const llmMessageSchema = z.discriminatedUnion('role', [user, assistant, toolResult]).transform(identified)

export const messageSchema: z.ZodType<AgentMessage> = z
  .discriminatedUnion('role', [user, assistant, toolResult, extension])
  .transform(identified)

export function encodeMessage(message: AgentMessage | BareMessage): JsonObject {
  if (message.role === 'extension') return renamed(message, {})
  const { provenanceHint: _, tags: __, ...bare } = message
  const spec: JsonObject = {
    ...(bare.role === 'assistant' ? renamed(bare, { errorMessage: 'error_message' }) : renamed(bare, {})),
    ...envelopeToSpec(message),
    content: message.content.map(contentCodec.encode),
  }
  return message.role === 'assistant' ? { ...spec, usage: usageCodec.encode(message.usage) } : spec
}

/**
 * `AgentMessage`: camelCase, except `error_message` and `usage`. `id` and `childLoopId` are keys that Rust ignores; a message without an
 * `id` gets one. Malformed extras (`turnId`, `nodeId`, `tags` …) are dropped, as Rust does; an unknown role throws.
 */
export const messageCodec: SpecCodec<AgentMessage> = specCodec('message', messageSchema, encodeMessage)
