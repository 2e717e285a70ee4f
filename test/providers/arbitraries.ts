import fc from 'fast-check'
import type { JsonObject } from '../../src/contract/json.ts'
import type { Content, ProviderState } from '../../src/contract/message/content.ts'
import type { Message, StopReason } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'

/** What the histories of a protocol are made of. */
export interface HistoryOptions {
  /** Who may have answered. */
  authors: readonly { model: string; provider: string }[]
  providerState: fc.Arbitrary<ProviderState>
  /** Few ids, so that they repeat, and illegal ones that sanitise to the same text. */
  ids?: readonly string[]
  names?: fc.Arbitrary<string>
  mimeTypes?: readonly string[]
  maxLength?: number
}

/** Blank text, halves of surrogate pairs, and anything else. */
const anyText = fc.oneof(fc.constantFrom('', ' ', '\n\t', 'hello', '\ud800', 'a\udfff\\ud83d b', '😀'), fc.string({ unit: 'binary' }))

const commonIds = ['a', 'b', 'call:1', 'call;1', 'call_1', '', 'x'.repeat(80), `${'x'.repeat(80)}y`, 'é', 'functions.a:0']
const stopReasons: readonly StopReason[] = ['stop', 'toolUse', 'length', 'error', 'aborted', 'paused']

/** JSON objects; the library types them as unknown underneath. */
export const anyArguments: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
  .map((value) => JSON.parse(JSON.stringify(value)))

/** One message of any role, with anything in it that a stored history may hold. */
export function anyMessage(options: HistoryOptions): fc.Arbitrary<Message> {
  const { authors, providerState, ids = commonIds, names = anyText, mimeTypes = ['image/png'] } = options
  const anyId = fc.constantFrom(...ids)
  const text = fc.record({ type: fc.constant('text' as const), text: anyText, providerState }, { requiredKeys: ['type', 'text'] })
  const image = fc.constantFrom(...mimeTypes).map((mimeType) => ({ type: 'image' as const, data: 'AA==', mimeType }))
  const thinking = fc.record(
    { type: fc.constant('thinking' as const), thinking: anyText, signature: fc.constantFrom('s', 'c2ln'), providerState },
    { requiredKeys: ['type', 'thinking'] },
  )
  const call = fc.record(
    { type: fc.constant('toolCall' as const), id: anyId, name: names, arguments: anyArguments, invalidArguments: anyText, providerState },
    { requiredKeys: ['type', 'id', 'name', 'arguments'] },
  )
  const content: fc.Arbitrary<Content[]> = fc.array(fc.oneof(text, image, thinking, call), { maxLength: 4 })
  return fc.oneof(
    fc.record({ role: fc.constant('user' as const), content, timestamp: fc.constant(1) }),
    fc
      .record({ content, stopReason: fc.constantFrom(...stopReasons), author: fc.constantFrom(...authors) })
      .map(({ author, ...rest }) => ({ role: 'assistant' as const, ...rest, ...author, usage: emptyUsage(), timestamp: 1 })),
    fc.record({
      role: fc.constant('toolResult' as const),
      toolCallId: anyId,
      toolName: names,
      content,
      isError: fc.boolean(),
      timestamp: fc.constant(1),
    }),
  )
}

/** Any history: nothing in it need go together. */
export function anyHistory(options: HistoryOptions): fc.Arbitrary<Message[]> {
  return fc.array(anyMessage(options), { maxLength: options.maxLength ?? 10 })
}
