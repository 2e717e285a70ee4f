import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai, openaiCompatible, openrouter } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import type { StreamRequest } from '../../src/types/model/provider.ts'
import { runs } from '../support/runs.ts'
import { anyMessage } from './arbitraries.ts'
import { answering, fixture } from './bytes.ts'
import { answerBy, authorOf, plainRequest, result, user } from './model-call.ts'

const models: readonly Model[] = [
  anthropic('claude-opus-4-8'),
  anthropic('claude-opus-4-6'),
  openai('gpt-6-sol'),
  openrouter('anthropic/claude-sonnet-5'),
  openaiCompatible('mistral-large', { backend: 'mistral', reasoning: true }),
  openaiResponses('gpt-6-sol'),
  azure('prod', { resource: 'r' }),
  google('gemini-3.5-flash'),
  google('gemma-3-27b-it'),
  vertex('gemini-2.5-flash', { project: 'p' }),
  bedrock('us.anthropic.claude-opus-4-8'),
  bedrock('mistral.mistral-large-2407-v1:0'),
]
const named = models.map((model) => [`${model.config.api} ${model.config.id}`, model] as const)

const states = models.flatMap(({ config: { api, id: model } }) => [
  { api, model, payload: {} },
  { api, model, payload: { thoughtSignature: 'c2ln', redacted: 'eA==', id: 'msg_1' }, prefixHash: '0' },
  { api, model, payload: { item: { type: 'reasoning', id: 'rs_1', encrypted_content: 'x' }, id: 'fc_1', after: 'rs_1' } },
])
const message = anyMessage({
  authors: models.map(({ config }) => ({ model: config.id, provider: config.provider })),
  providerState: fc.constantFrom(...states),
  ids: ['a', 'b', 'call_0', 'call:1'],
  names: fc.constantFrom('read', 'list files'),
})
/** A turn as it mostly is, so that conversations also grow in order. */
const turn = fc
  .record({ id: fc.constantFrom('a', 'call_0', 'c9'), author: fc.constantFrom(...models) })
  .map(({ id, author }): Message[] => [
    answerBy(authorOf(author.config), [{ type: 'toolCall', id, name: 'read', arguments: { path: id } }], { stopReason: 'toolUse' }),
    result(id),
  ])

/** What may happen to a conversation between two calls. Positions are taken modulo its length. */
type Step =
  | { kind: 'add'; messages: Message[] }
  | { kind: 'edit' | 'copy' | 'repeat'; at: number; message: Message }
  | { kind: 'cut' | 'dropFront' | 'branch' | 'switch'; at: number }
  | { kind: 'reminder' | 'systemPrompt'; text: string }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), messages: turn }),
  fc.record({ kind: fc.constant('add' as const), messages: turn }),
  fc.record({ kind: fc.constant('add' as const), messages: fc.array(message, { maxLength: 3 }) }),
  fc.record({ kind: fc.constantFrom('edit' as const, 'copy' as const, 'repeat' as const), at: fc.nat(20), message }),
  fc.record({
    kind: fc.constantFrom('cut' as const, 'dropFront' as const, 'branch' as const, 'switch' as const),
    at: fc.nat(20),
  }),
  fc.record({ kind: fc.constantFrom('reminder' as const, 'systemPrompt' as const), text: fc.constantFrom('', 'Be brief.', 'Be long.') }),
)

/** Conversations that share messages, as branches do; one of them goes on. */
class Conversations {
  readonly #all: Message[][] = [[user('Hi')]]
  #current: Message[] = this.#all[0] ?? []
  systemPrompt = ''

  /** The messages of the next request. */
  take(next: Step): readonly Message[] {
    const list = this.#current
    const at = 'at' in next && list.length > 0 ? next.at % list.length : 0
    if (next.kind === 'add') list.push(...next.messages)
    if (next.kind === 'edit') list[at] = next.message
    if (next.kind === 'copy' && list[at] !== undefined) list[at] = structuredClone(list[at])
    if (next.kind === 'repeat' && list[at] !== undefined) list.push(list[at])
    if (next.kind === 'cut') list.length = at
    if (next.kind === 'dropFront') list.splice(0, at)
    if (next.kind === 'branch') {
      this.#current = list.slice(0, at + 1)
      this.#all.push(this.#current)
    }
    if (next.kind === 'switch') this.#current = this.#all[next.at % this.#all.length] ?? list
    if (next.kind === 'systemPrompt') this.systemPrompt = next.text
    return next.kind === 'reminder' ? [...this.#current, user(next.text)] : [...this.#current]
  }
}

function requestOf(model: Model, messages: readonly Message[], systemPrompt: string): StreamRequest {
  return plainRequest(model.config, { credential: 'bearer-key-0123456789', messages, systemPrompt })
}

/** What a model sends that has never seen any of it. */
async function freshBody({ config, provider }: Model, messages: readonly Message[], systemPrompt: string): Promise<string> {
  const stranger: Model = { config: { ...config }, provider }
  return (await provider.encode(requestOf(stranger, structuredClone(messages), systemPrompt))).body
}

describe('the encoder cache', () => {
  it.each(named)('produces the same request as a fresh encoder: %s', async (_name, model) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 14 }), async (steps) => {
        const conversations = new Conversations()
        for (const each of steps) {
          const messages = conversations.take(each)
          const { body } = await model.provider.encode(requestOf(model, messages, conversations.systemPrompt))
          expect(body).toBe(await freshBody(model, messages, conversations.systemPrompt))
        }
      }),
      { numRuns: runs(50, 1500) },
    )
  })

  it('produces the same request if reasoning is bound to its prefix', async () => {
    const play = answering([fixture('anthropic/thinking.sse')])
    const model = anthropic('claude-opus-4-8', { fetch: play })
    const ask = async (messages: readonly Message[]) =>
      await model.provider.stream(requestOf(model, messages, 'Think.'), () => undefined, new AbortController().signal)
    const messages: Message[] = []
    for (let n = 0; n < 4; n++) {
      messages.push(user(`Question ${n}`))
      messages.push(await ask(messages))
    }
    const body = async (list: readonly Message[]) => (await model.provider.encode(requestOf(model, list, 'Think.'))).body
    const count = (text: string) => text.split('"type":"thinking"').length - 1
    const whole = await body([...messages, user('And?')])
    expect(count(whole)).toBe(4)
    expect(whole).toBe(await freshBody(model, [...messages, user('And?')], 'Think.'))
    // An edit before them takes their reasoning away, and only here.
    const edited = [user('Another'), ...messages.slice(1), user('And?')]
    expect(count(await body(edited))).toBe(0)
    expect(await body([...messages, user('And?')])).toBe(whole)
  })
})

describe('a result that arrives after a later response', () => {
  it.each(named)('places a late result after its call: %s', async (_name, model) => {
    const by = authorOf(model.config)
    const call = { type: 'toolCall' as const, id: 'a', name: 'read', arguments: {} }
    const asked = [user('Hi'), answerBy(by, [call], { stopReason: 'toolUse' })]
    const waited = [user('Wait.'), answerBy(by, [{ type: 'text', text: 'I wait.' }])]
    const inOrder = await freshBody(model, [...asked, result('a'), ...waited, user('So?')], '')
    const late = [...asked, ...waited, result('a'), user('So?')]
    expect(await freshBody(model, late, '')).toBe(inOrder)
    // What was sent before has settled the call without a result.
    await model.provider.encode(requestOf(model, [...asked, ...waited, user('And?')], ''))
    expect((await model.provider.encode(requestOf(model, late, ''))).body).toBe(inOrder)
  })
})

describe('ids that repeat in every turn', () => {
  /** How often ids are looked at while a history of `turns` turns is encoded once. */
  async function readsOf(turns: number, idOf: (n: number) => string): Promise<number> {
    const model = anthropic('claude-opus-4-6')
    const messages: Message[] = [user('Hi')]
    let reads = 0
    for (let n = 0; n < turns; n++) {
      const id = idOf(n)
      // Every attempt to make an id unique reads it.
      const call = { type: 'toolCall' as const, name: 'read', arguments: {}, id: '' }
      Object.defineProperty(call, 'id', {
        enumerable: true,
        get: () => {
          reads++
          return id
        },
      })
      const answer = { role: 'assistant' as const, content: [call], stopReason: 'toolUse' as const, usage: emptyUsage(), timestamp: 1 }
      messages.push({ ...answer, model: model.config.id, provider: 'anthropic' })
      messages.push(result(id))
    }
    await model.provider.encode(requestOf(model, messages, ''))
    return reads
  }

  it('encodes repeated ids about as fast as distinct ones, in constant time per turn', async () => {
    const distinct = await readsOf(400, (n) => `call_${n}`)
    const repeated = await readsOf(400, () => 'call_0')
    expect(repeated).toBeLessThanOrEqual(3 * distinct)
    expect(await readsOf(800, () => 'call_0')).toBeLessThanOrEqual(2.1 * repeated)
  })
})
