import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/contract/json.ts'
import type { Content } from '../../src/contract/message/content.ts'
import type { BlockProvenance, NodeTag } from '../../src/contract/message/identity.ts'
import type { AgentMessage, StopReason } from '../../src/contract/message/message.ts'
import type { Usage } from '../../src/contract/model/usage.ts'

/** Any JSON value, `__proto__` keys included, as `JSON.parse` makes it. */
const jsonValue: fc.Arbitrary<JsonValue> = fc.json({ maxDepth: 3 }).map((text): JsonValue => JSON.parse(text))

const jsonObject: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'type', 'role')), jsonValue), { maxLength: 4 })
  .map((entries) => Object.fromEntries(entries))

const integer = fc.nat()
const word = fc.string({ unit: 'grapheme' })

/** Keys nobody knows: what a newer version may write. */
const unknownKeys = fc
  .array(fc.tuple(fc.stringMatching(/^x-[a-z]{1,5}$/), jsonValue), { maxLength: 2 })
  .map((entries): JsonObject => Object.fromEntries(entries))

function record<T extends object>(required: { [K in keyof T]: fc.Arbitrary<T[K]> }, optional: JsonArbitraries = {}): fc.Arbitrary<T> {
  const extras = fc.record(optional, { requiredKeys: [] })
  return fc.tuple(unknownKeys, extras, fc.record<T>(required)).map(([unknown, some, all]) => ({ ...unknown, ...some, ...(all as T) })) // every key of T is there
}

type JsonArbitraries = Record<string, fc.Arbitrary<unknown>>

const usage: fc.Arbitrary<Usage> = record<Usage>({
  input: integer,
  output: integer,
  reasoning: integer,
  cacheRead: integer,
  cacheWrite: integer,
  totalTokens: integer,
})

const providerState = record(
  { api: fc.constantFrom('anthropicMessages', 'openAiResponses'), model: word, payload: jsonObject },
  { prefixHash: word },
)

const state = { providerState }
const literal = <const T extends string>(value: T): fc.Arbitrary<T> => fc.constant(value)

const content: fc.Arbitrary<Content> = fc.oneof(
  record({ type: literal('text'), text: word }, state),
  record({ type: literal('image'), data: word, mimeType: word }),
  record({ type: literal('thinking'), thinking: word }, { ...state, signature: word }),
  record({ type: literal('toolCall'), id: word, name: word, arguments: jsonObject }, state),
  record(
    { type: literal('toolCall'), id: word, name: word, arguments: fc.constant<JsonObject>({}) },
    { ...state, invalidArguments: fc.oneof(word, fc.json(), fc.constantFrom('null', '1', '{"a":', '"x"', '1e400', '{}')) },
  ),
)

const nodeTag: fc.Arbitrary<NodeTag> = record<NodeTag>({
  kind: fc.constantFrom('lesson', 'finding', 'outcome', 'checkpoint'),
  text: word,
  createdAtTurn: integer,
  abandonedNodeIds: fc.array(integer, { maxLength: 3 }),
})

export const provenance: fc.Arbitrary<BlockProvenance> = fc.oneof(
  record({ kind: fc.constantFrom('systemPrompt', 'steering', 'followUp', 'unknown') }),
  record({ kind: literal('identityBlock'), name: word, order: integer }),
  record({ kind: literal('memoryTier'), tier: word, recordId: word }),
  record({
    kind: literal('loopTurn'),
    turnIndex: integer,
    role: fc.constantFrom('userMessage', 'assistantResponse', 'toolCallRequest', 'toolCallResult'),
    messageIndex: integer,
  }),
)

const extras = {
  turnId: record({ loopId: word, turnIndex: integer }),
  // Rust ignores the key: what it does not know stays.
  provenanceHint: fc.oneof(provenance, record({ kind: literal('background'), backgroundId: word, toolName: word })),
  nodeId: integer,
  parentId: integer,
  tags: fc.array(nodeTag, { minLength: 1, maxLength: 2 }),
}

const id = fc.uuid()
const blocks = fc.array(content, { maxLength: 4 })

const stopReason: fc.Arbitrary<StopReason> = fc.constantFrom(
  ...(['stop', 'length', 'toolUse', 'error', 'aborted', 'maxTurns', 'userStop', 'handoff', 'guardRail', 'paused'] as const),
)

/** Any entry of a history. */
export const message: fc.Arbitrary<AgentMessage> = fc.oneof(
  record({ role: literal('user'), id, content: blocks, timestamp: integer }, extras),
  record(
    { role: literal('assistant'), id, content: blocks, stopReason, model: word, provider: word, usage, timestamp: integer },
    { ...extras, errorMessage: word },
  ),
  record(
    { role: literal('toolResult'), id, toolCallId: word, toolName: word, content: blocks, isError: fc.boolean(), timestamp: integer },
    { ...extras, childLoopId: word },
  ),
  record({ role: literal('extension'), id, kind: word, data: jsonValue }),
)

/** JSON text with sorted keys, so that two values can be compared exactly, `__proto__` keys included. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}
