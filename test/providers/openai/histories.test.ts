import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/json.ts'
import type { Content } from '../../../src/contract/message/content.ts'
import { type Message, userMessage } from '../../../src/contract/message/message.ts'
import { openai, openaiCompatible, openrouter } from '../../../src/providers/openai.ts'
import type { Model } from '../../../src/types/model/model.ts'
import { runs } from '../../support/runs.ts'
import { answerBy, authorOf, issuedIds } from '../model-call.ts'
import { requestFor } from './call.ts'
import { chatFaults } from './grammar.ts'

const models: Model[] = [
  openai('gpt-6-sol'),
  openai('gpt-3.5-turbo'),
  openrouter('anthropic/claude-sonnet-5'),
  openaiCompatible('deepseek-v4', { backend: 'deepseek' }),
  openaiCompatible('mistral-large', { backend: 'mistral', reasoning: true }),
]

const anyText = fc.oneof(fc.constantFrom('', ' ', '\n', 'hello', 'ünï 😀', '\ud800', '"\\'), fc.string({ unit: 'binary', maxLength: 8 }))
const text: fc.Arbitrary<Content> = anyText.map((value) => ({ type: 'text', text: value }))
const image: fc.Arbitrary<Content> = fc.constant({ type: 'image', data: 'AAAA', mimeType: 'image/png' })
const callId = fc.constantFrom(
  'a',
  'b',
  'call_1',
  '',
  'with space',
  'é',
  'x'.repeat(41),
  `${'x'.repeat(41)}y`,
  'abcdefghi',
  'functions.f:0',
)
// Generated JSON objects; the library types them as unknown.
const args = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.parse(JSON.stringify(value)) as JsonObject)

const call: fc.Arbitrary<Content> = fc
  .record({ id: callId, name: fc.constantFrom('f', 'g'), arguments: args, bad: fc.option(fc.string(), { nil: undefined }) })
  .map(({ bad, ...rest }) => ({ type: 'toolCall', ...rest, ...(bad === undefined ? {} : { arguments: {}, invalidArguments: bad }) }))

const thinking: fc.Arbitrary<Content> = fc
  .record({ thinking: anyText, model: fc.option(fc.constantFrom(...models.map(({ config }) => config.id)), { nil: undefined }) })
  .map(({ thinking, model }) => ({
    type: 'thinking',
    thinking,
    ...(model === undefined
      ? {}
      : {
          providerState: { api: 'openAiCompletions', model, payload: { reasoningDetails: [{ type: 'reasoning.text', text: thinking }] } },
        }),
  }))

const message: fc.Arbitrary<Message> = fc.oneof(
  fc
    .record({ content: fc.array(fc.oneof(text, image), { maxLength: 3 }) })
    .map(({ content }) => ({ role: 'user' as const, content, timestamp: 0 })),
  fc
    .record({
      content: fc.array(fc.oneof(text, call, call, thinking, image), { maxLength: 4 }),
      stopReason: fc.constantFrom('stop' as const, 'toolUse' as const, 'length' as const, 'error' as const, 'aborted' as const),
      model: fc.constantFrom(...models),
    })
    .map(({ content, stopReason, model: { config } }) => answerBy(authorOf(config), content, { stopReason })),
  fc
    .record({ toolCallId: callId, content: fc.array(fc.oneof(text, image), { maxLength: 2 }), isError: fc.boolean() })
    .map((fields) => ({ role: 'toolResult' as const, toolName: 'f', timestamp: 0, ...fields })),
)

async function encode(model: Model, messages: Message[], systemPrompt = ''): Promise<string> {
  return (await model.provider.encode(requestFor(model, { messages, systemPrompt }))).body
}

describe('any history as a Chat Completions request', () => {
  it.each(models.map((model) => [model.config.id, model] as const))('encodes any history to a valid request: %s', async (_id, model) => {
    const history = fc.array(message, { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(history, fc.constantFrom('', 'Be brief.'), async (messages, systemPrompt) => {
        const before = JSON.stringify(messages)
        const body = await encode(model, messages, systemPrompt)
        expect(chatFaults(JSON.parse(body).messages, issuedIds(model.config, messages))).toEqual([])
        // The same bytes again: what is remembered is what was made.
        expect(await encode(model, messages, systemPrompt)).toBe(body)
        expect(await encode(model, structuredClone(messages), systemPrompt)).toBe(body)
        expect(JSON.stringify(messages)).toBe(before)
      }),
      { numRuns: runs(100, 3000) },
    )
  })

  it.each(models.map((model) => [model.config.id, model] as const))(
    'encodes growing and branching conversations the same each time: %s',
    async (_id, model) => {
      const history = fc.array(message, { minLength: 1, maxLength: 10 })
      await fc.assert(
        fc.asyncProperty(history, history, fc.nat(), async (one, other, at) => {
          const branched = [...one.slice(0, (at % one.length) + 1), ...other]
          for (const list of [one, branched, one])
            for (let length = 1; length <= list.length; length++) {
              const messages = list.slice(0, length)
              expect(await encode(model, messages)).toBe(await encode(model, structuredClone(messages)))
            }
        }),
        { numRuns: runs(20, 600) },
      )
    },
  )

  it('extends the previous request as the conversation grows, for prompt caching', async () => {
    const [model] = models
    if (model === undefined) throw new Error('no model')
    const answer = (id: string) =>
      answerBy(authorOf(model.config), [{ type: 'toolCall', id, name: 'f', arguments: { id } }], { stopReason: 'toolUse' })
    const result = (toolCallId: string): Message => ({
      role: 'toolResult',
      toolCallId,
      toolName: 'f',
      content: [{ type: 'text', text: toolCallId }],
      isError: false,
      timestamp: 0,
    })
    const history: Message[] = [userMessage('go')]
    let last = await encode(model, history)
    for (let turn = 0; turn < 20; turn++) {
      history.push(answer(`call_${turn}`), result(`call_${turn}`))
      const next = await encode(model, history)
      expect(next.startsWith(last.slice(0, -2))).toBe(true)
      last = next
    }
  })
})
