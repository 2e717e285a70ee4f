import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeTagCodec, provenanceCodec } from '../../src/rust/codecs.ts'
import { contentCodec, messageCodec } from '../../src/rust.ts'
import { provenance } from './arbitrary.ts'

const usage = { input: 1, output: 2, reasoning: 0, cache_read: 3, cache_write: 4, total_tokens: 10 }
const user = { role: 'user', content: [{ type: 'text', text: 'a' }], timestamp: 1 }
const assistant = { role: 'assistant', content: [], stopReason: 'toolUse', model: 'm', provider: 'p', usage, timestamp: 5 }
const toolResult = { role: 'toolResult', toolCallId: 'c1', toolName: 'bash', content: [], isError: false, timestamp: 1 }

/** Reads and writes a message that has an id already. */
function rewritten(message: object): unknown {
  return messageCodec.encode(messageCodec.decode({ id: 'x', ...message }))
}

describe('messageCodec', () => {
  it.each([
    ['message_user_roundtrip', user],
    ['message_assistant_roundtrip', assistant],
    ['message_assistant_roundtrip, with an error', { ...assistant, stopReason: 'error', error_message: 'e' }],
    ['message_tool_result_roundtrip', toolResult],
    ['extension_message_roundtrip', { role: 'extension', kind: 'note', data: { a: 1 } }],
  ])('preserves a crate message: %s', (_name, message) => {
    expect(rewritten(message)).toEqual({ id: 'x', ...message })
  })

  it('preserves a block that the crate does not know', () => {
    const file = { type: 'file' as const, mimeType: 'application/pdf', url: 'https://example.test/a.pdf' }
    expect(contentCodec.encode(file)).toEqual(file)
    expect(contentCodec.decode(file)).toEqual(file)
    expect(() => contentCodec.decode({ type: 'foo' })).toThrow('content.type: expected text|image|thinking|toolCall, got "foo"')
  })

  it('preserves every content variant (content_variants_roundtrip)', () => {
    const variants = [
      { type: 'text', text: 'a' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
      { type: 'thinking', thinking: 't', signature: 's' },
      { type: 'thinking', thinking: 't' },
      { type: 'toolCall', id: 'c1', name: 'bash', arguments: { command: 'ls' } },
    ]
    for (const variant of variants) expect(contentCodec.encode(contentCodec.decode(variant))).toEqual(variant)
    expect(contentCodec.decode({ type: 'thinking', thinking: 't', signature: null })).toEqual({ type: 'thinking', thinking: 't' })
  })

  it('reads non-object arguments as invalid, and writes them back unchanged', () => {
    for (const args of [null, 'ls', 5, [1]]) {
      const call = { type: 'toolCall', id: 'c', name: 'n', arguments: args }
      const read = contentCodec.decode(call)
      expect(read).toEqual({ type: 'toolCall', id: 'c', name: 'n', arguments: {}, invalidArguments: JSON.stringify(args) })
      expect(contentCodec.encode(read)).toEqual(call)
    }
  })

  it('preserves provider state in a key that the crate ignores', () => {
    const block = { type: 'text', text: 'a', providerState: { api: 'anthropicMessages', model: 'm', payload: { data: 'x' } } }
    expect(contentCodec.encode(contentCodec.decode(block))).toEqual(block)
    expect(contentCodec.decode({ ...block, providerState: 'broken' })).toEqual({ type: 'text', text: 'a' })
  })

  it('reads an old message with defaults (old_llm_message_json_deserializes_with_defaults)', () => {
    expect(messageCodec.decode({ ...user, id: 'x' })).toEqual({ ...user, id: 'x' })
  })

  it('reads an old message with a turn id (old_llm_message_with_turn_id_still_works)', () => {
    const old = { ...user, id: 'x', turnId: { loopId: 's.c.1', turnIndex: 0 } }
    expect(messageCodec.decode(old)).toEqual(old)
  })

  it('omits default values when writing (defaults_omitted_from_serialized_json)', () => {
    const written = messageCodec.encode({ role: 'user', id: 'x', content: [], timestamp: 1, tags: [] })
    expect(written).toEqual({ role: 'user', id: 'x', content: [], timestamp: 1 })
    expect(Object.keys(Object(rewritten(assistant)))).not.toContain('error_message')
  })

  it('preserves a message with every field (full_roundtrip_with_all_new_fields)', () => {
    const full = {
      ...toolResult,
      turnId: { loopId: 's.c.1', turnIndex: 0 },
      nodeId: 5,
      parentId: 4,
      tags: [{ kind: 'lesson', text: 'x', created_at_turn: 2, abandoned_node_ids: [3] }],
      provenanceHint: { kind: 'identity-block', name: 'Agent', order: 3 },
    }
    expect(messageCodec.decode({ ...full, id: 'x' })).toMatchObject({
      tags: [{ kind: 'lesson', text: 'x', createdAtTurn: 2, abandonedNodeIds: [3] }],
      provenanceHint: { kind: 'identityBlock', name: 'Agent', order: 3 },
    })
    expect(rewritten(full)).toEqual({ id: 'x', ...full })
  })

  it('reads node ids of messages (agent_message_with_node_identity_helper)', () => {
    expect(messageCodec.decode({ ...user, id: 'x', nodeId: 1, parentId: null })).toEqual({ ...user, id: 'x', nodeId: 1 })
  })

  it('drops malformed optional fields, like the crate', () => {
    const extras = { turnId: 'x', nodeId: 'n5', parentId: -1, tags: [{ kind: 'gossip' }], provenanceHint: { kind: 'future' } }
    expect(rewritten({ ...user, ...extras })).toEqual({ ...user, id: 'x' })
  })

  it('generates an id for a message with a missing or invalid id', () => {
    for (const id of [undefined, null, '', 7]) expect(messageCodec.decode({ ...user, id }).id).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('preserves the loop id of a sub-agent in a key that the crate ignores', () => {
    expect(rewritten({ ...toolResult, childLoopId: 'x.sub.1' })).toEqual({ id: 'x', ...toolResult, childLoopId: 'x.sub.1' })
  })
})

describe('provenanceCodec', () => {
  it('writes kinds in kebab-case (block_provenance_serializes_kebab_case)', () => {
    expect(provenanceCodec.encode({ kind: 'systemPrompt' })).toEqual({ kind: 'system-prompt' })
    expect(provenanceCodec.encode({ kind: 'followUp' })).toEqual({ kind: 'follow-up' })
    expect(provenanceCodec.decode({ kind: 'steering' })).toEqual({ kind: 'steering' })
    expect(provenanceCodec.decode({ kind: 'unknown' })).toEqual({ kind: 'unknown' })
  })

  it('preserves an identity block (block_provenance_identity_block_round_trip)', () => {
    const spec = { kind: 'identity-block', name: 'n', order: 1 }
    expect(provenanceCodec.encode(provenanceCodec.decode(spec))).toEqual(spec)
  })

  it('preserves a loop turn (block_provenance_loop_turn_round_trip)', () => {
    const spec = { kind: 'loop-turn', turn_index: 0, role: 'tool-call-request', message_index: 1 }
    expect(provenanceCodec.decode(spec)).toEqual({ kind: 'loopTurn', turnIndex: 0, role: 'toolCallRequest', messageIndex: 1 })
    expect(provenanceCodec.encode(provenanceCodec.decode(spec))).toEqual(spec)
  })

  it('writes roles in kebab-case (provenance_role_serializes_kebab_case)', () => {
    const roles = { userMessage: 'user-message', assistantResponse: 'assistant-response', toolCallResult: 'tool-call-result' } as const
    for (const role of ['userMessage', 'assistantResponse', 'toolCallResult'] as const) {
      const written = provenanceCodec.encode({ kind: 'loopTurn', turnIndex: 0, role, messageIndex: 0 })
      expect(written).toMatchObject({ role: roles[role] })
    }
  })

  it('preserves any provenance', () => {
    fc.assert(fc.property(provenance, (value) => void expect(provenanceCodec.decode(provenanceCodec.encode(value))).toEqual(value)))
  })
})

describe('nodeTagCodec', () => {
  it('preserves a tag with integer node ids (node_tag_roundtrip, node_id_serializes_as_bare_integer)', () => {
    const spec = { kind: 'checkpoint', text: 'x', created_at_turn: 2, abandoned_node_ids: [3, 12] }
    expect(nodeTagCodec.decode(spec)).toEqual({ kind: 'checkpoint', text: 'x', createdAtTurn: 2, abandonedNodeIds: [3, 12] })
    expect(nodeTagCodec.encode(nodeTagCodec.decode(spec))).toEqual(spec)
    expect(() => nodeTagCodec.decode({ ...spec, abandoned_node_ids: ['n3'] })).toThrow(
      'tag.abandoned_node_ids[0]: expected number, got string',
    )
  })
})
