import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLlmMessage } from '../../src/contract/message/message.ts'
import type { AnnotatedRequest } from '../../src/contract/model/request.ts'
import { annotatedRequestCodec, responseFormatCodec, revertCategoryCodec } from '../../src/rust/codecs.ts'
import { canonical, message, provenance } from './arbitrary.ts'

const user = { role: 'user', content: [{ type: 'text', text: 'hi' }], timestamp: 1 }
const usage = { input: 1, output: 2, reasoning: 0, cache_read: 3, cache_write: 4, total_tokens: 10 }
const payload = {
  system_prompt: 's',
  messages: [user, { role: 'assistant', content: [], stopReason: 'stop', model: 'm', provider: 'p', usage, timestamp: 2 }],
  provenance: [
    { kind: 'identity-block', name: 'n', order: 1 },
    { kind: 'loop-turn', turn_index: 0, role: 'assistant-response', message_index: 1 },
  ],
  tools: [{ name: 't', description: 'd', parameters: { type: 'object' } }],
  model_id: 'm',
  thinking_level: 'off',
  max_tokens: null,
  temperature: 0.5,
}

describe('annotatedRequestCodec', () => {
  it.each([
    ['annotated_request_payload_round_trip_with_text_response_format', { kind: 'text' }],
    [
      'annotated_request_payload_round_trip_with_json_schema_response_format',
      { kind: 'json-schema', schema: { a: 1 }, name: 'n', strict: true },
    ],
    ['json-object response format', { kind: 'json-object' }],
  ])('preserves a request payload: %s', (_name, response_format) => {
    const spec = { ...payload, response_format }
    expect(annotatedRequestCodec.encode(annotatedRequestCodec.decode(spec))).toEqual(spec)
  })

  it('reads a request without provider and protocol, and omits absent settings', () => {
    const request = annotatedRequestCodec.decode(payload)
    expect(request).toMatchObject({ systemPrompt: 's', modelId: 'm', thinkingLevel: 'off', temperature: 0.5 })
    for (const key of ['provider', 'api', 'maxTokens', 'responseFormat', 'http']) expect(request).not.toHaveProperty(key)
  })

  it('writes an unknown provenance kind as the nearest one of the crate', () => {
    const message = { role: 'user' as const, content: [], timestamp: 0 }
    const request: AnnotatedRequest = {
      ...annotatedRequestCodec.decode({ ...payload, messages: [] }),
      provider: 'p',
      api: 'googleVertex',
      messages: [message, message],
      provenance: [{ kind: 'steering' }, { kind: 'background', backgroundId: 'helper-1', toolName: 'helper' }],
    }
    expect(annotatedRequestCodec.encode(request)).toMatchObject({ provenance: [{ kind: 'steering' }, { kind: 'follow-up' }] })
  })

  it('generates no message ids, and preserves existing ones', () => {
    const decoded = annotatedRequestCodec.decode({
      ...payload,
      messages: [user, { ...user, id: 'a', turnId: { loopId: 'l', turnIndex: 0 } }],
    })
    expect(decoded.messages[0]).not.toHaveProperty('id')
    expect(decoded.messages[1]).toMatchObject({ id: 'a', turnId: { loopId: 'l', turnIndex: 0 } })
  })

  it('preserves native fields, and writes null and text for absent values', () => {
    const request: AnnotatedRequest = {
      systemPrompt: '',
      messages: [],
      provenance: [],
      tools: [],
      modelId: 'm',
      provider: 'p',
      api: 'googleVertex',
      thinkingLevel: 'minimal',
      http: { url: 'u', headers: {}, body: '{}' },
    }
    const spec = annotatedRequestCodec.encode(request)
    expect(spec).toMatchObject({ max_tokens: null, temperature: null, response_format: { kind: 'text' }, api: 'googleVertex' })
    expect(annotatedRequestCodec.decode(spec)).toEqual({ ...request, responseFormat: { type: 'text' } })
  })

  it('preserves any messages and provenance', () => {
    const messages = fc.array(message, { maxLength: 3 }).map((history) => history.filter(isLlmMessage))
    fc.assert(
      fc.property(messages, fc.array(provenance, { maxLength: 3 }), (sent, origins) => {
        const request = { ...annotatedRequestCodec.decode(payload), messages: sent, provenance: origins }
        const back = annotatedRequestCodec.decode(JSON.parse(JSON.stringify(annotatedRequestCodec.encode(request))))
        expect(canonical(back)).toBe(canonical({ ...request, responseFormat: { type: 'text' } }))
      }),
    )
  })

  it('reports the path in an invalid payload', () => {
    const broken = (fields: object) => () => annotatedRequestCodec.decode({ ...payload, ...fields })
    expect(broken({ messages: [{ ...user, timestamp: 'x' }] })).toThrow('payload.messages[0].timestamp: expected number, got string')
    expect(broken({ messages: [{ role: 'extension', kind: 'k', data: 1 }] })).toThrow('payload.messages[0].role: expected user|assistant')
    expect(broken({ provenance: [{ kind: 'systemPrompt' }] })).toThrow('payload.provenance[0].kind')
    expect(broken({ thinking_level: 'High' })).toThrow('payload.thinking_level: expected off|minimal|low|medium|high|xhigh|max, got "High"')
    expect(broken({ response_format: { kind: 'jsonObject' } })).toThrow('payload.response_format.kind')
  })
})

describe('responseFormatCodec', () => {
  it('writes an absent strict flag as false', () => {
    const spec = { kind: 'json-schema', name: 'n', schema: {}, strict: false }
    expect(responseFormatCodec.encode({ type: 'jsonSchema', name: 'n', schema: {} })).toEqual(spec)
    expect(responseFormatCodec.decode({ kind: 'json-schema', name: 'n', schema: {} })).toEqual({
      type: 'jsonSchema',
      name: 'n',
      schema: {},
      strict: false,
    })
  })
})

describe('revertCategoryCodec', () => {
  it('writes categories in kebab-case (revert_category_serializes_kebab_case)', () => {
    for (const spec of ['failure', 'tangent', 'completion', 'step-summary']) {
      expect(revertCategoryCodec.encode(revertCategoryCodec.decode(spec))).toBe(spec)
    }
    expect(revertCategoryCodec.decode('step-summary')).toBe('stepSummary')
    expect(() => revertCategoryCodec.decode('stepSummary')).toThrow(
      'category: expected failure|tangent|completion|step-summary, got "stepSummary"',
    )
  })
})
