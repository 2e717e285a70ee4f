import { revertCategory } from '../../contract/context/context-change.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import { content, type ToolCallContent } from '../../contract/message/content.ts'
import { blockProvenance, newId, nodeTag, provenanceRole } from '../../contract/message/identity.ts'
import { agentMessage, llmMessageInput } from '../../contract/message/message.ts'
import { usage } from '../../contract/model/usage.ts'
import { json } from '../../contract/shape/shape.ts'
import { toolResult } from '../../contract/tool/tool-result.ts'
import { type Entry, spelled, spelledTagged, spelledWords } from '../spelling.ts'
import { filledText, integer } from '../values.ts'

const extra = { extra: 'spelled' } as const
const zero = { missing: () => 0 }

/** Rust accepts any JSON value as arguments. Here they are an object, and other text goes to `invalidArguments`. */
function argumentsRead(call: ToolCallContent): ToolCallContent {
  const args: unknown = call.arguments
  return isJsonObject(args) ? call : { ...call, arguments: {}, invalidArguments: JSON.stringify(args) }
}

function argumentsWritten(spec: JsonObject, call: ToolCallContent): JsonObject {
  if (call.invalidArguments === undefined || Object.keys(call.arguments).length > 0) return spec
  const { invalidArguments: _, ...rest } = spec
  const args = plainArguments(call.invalidArguments)
  return args === undefined ? spec : { ...rest, arguments: args }
}

/** Returns the value of `text` if it is compact JSON and no object. It can then be written as the arguments. */
function plainArguments(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text)
    return isJsonObject(value) || JSON.stringify(value) !== text ? undefined : value
  } catch {
    return undefined
  }
}

/** Drops an empty list of tags, which Rust neither writes nor reads. */
function withoutNoTags<T extends object>(value: T): T {
  const { tags, ...rest }: T & { tags?: unknown } = value
  return Array.isArray(tags) && tags.length === 0 ? (rest as T) : value // `tags` may be absent.
}

const envelope = {
  fields: { turnId: extra, provenanceHint: extra, nodeId: extra, parentId: extra, tags: extra },
  read: withoutNoTags,
  write: withoutNoTags,
} as const
// Numbers in Rust are integers. These are not.
const native = { extra: 'native' } as const
const answer = {
  responseId: extra,
  responseModel: extra,
  outputForm: native,
  logprobs: native,
  refusedMedia: native,
  errorMessage: { name: 'error_message' },
} as const
const enveloped = {
  user: envelope,
  assistant: { ...envelope, fields: { ...envelope.fields, ...answer } },
  toolResult: { ...envelope, fields: { ...envelope.fields, childLoopId: extra } },
} as const

/** Blocks that the crate has no type for. */
export const blocksOfOurs = ['file', 'serviceTool', 'opaque'] as const

export const messageSpellings: readonly Entry[] = [
  spelled(usage, {
    names: 'snake_case',
    fields: { reasoning: zero, cacheRead: zero, cacheWrite: zero, totalTokens: zero, reportedCost: native },
  }),
  spelled(nodeTag, { names: 'snake_case', fields: { abandonedNodeIds: { missing: () => [] } } }),
  spelledWords(revertCategory, { words: 'kebab-case' }),
  spelledWords(provenanceRole, { words: 'kebab-case' }),
  ...spelledTagged(blockProvenance, 'kind', {
    words: 'kebab-case',
    names: 'snake_case',
    variants: { identityBlock: { fields: { order: { as: integer } } } },
  }),
  ...spelledTagged(content, 'type', {
    ours: [...blocksOfOurs],
    fields: { providerState: extra },
    variants: {
      text: { fields: { citations: extra } },
      image: { fields: { url: extra, fileId: extra } },
      toolCall: {
        fields: { arguments: { as: json }, invalidArguments: extra, isCut: extra, repairedFrom: extra },
        read: argumentsRead,
        write: argumentsWritten,
      },
    },
  }),
  // A message without an id gets one.
  ...spelledTagged(agentMessage, 'role', {
    fields: { id: { ...extra, as: filledText, missing: newId } },
    variants: enveloped,
  }),
  // Messages of a request keep their ids.
  ...spelledTagged(llmMessageInput, 'role', { fields: { id: { ...extra, as: filledText } }, variants: enveloped }),
  spelled(toolResult, { names: 'snake_case', fields: { details: { absent: null }, isError: extra } }),
]
