import { describe, expect, it } from 'vitest'
import type { Content } from '../../src/contract/message/content.ts'
import type { Message } from '../../src/contract/message/message.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { answerBy, authorOf, plainRequest, result, user } from './model-call.ts'

const key = { apiKey: 'k-0123456789' }
const models: [string, Model][] = [
  ['Anthropic', anthropic('claude-sonnet-5', key)],
  ['Chat', openai('gpt-5.1', key)],
  ['Responses', openaiResponses('gpt-5.1', key)],
  ['Azure', azure('gpt-5.1', { ...key, resource: 'r' })],
  ['Gemini', google('gemini-3-pro', key)],
  ['Bedrock', bedrock('anthropic.claude-sonnet-4-5', { ...key, region: 'eu-west-1' })],
]
const [long, short] = ['A'.repeat(100_000), 'A'.repeat(1000)]

/** A history with media everywhere where they may stand, and a text that has characters to be escaped. */
function historyOf({ config }: Model, data: string): Message[] {
  const picture: Content = { type: 'image', mimeType: 'image/png', data }
  const pdf: Content = {
    type: 'file',
    mimeType: 'application/pdf',
    data,
    name: 'a "b".pdf',
    context: 'No "more" \ud800 than this',
    citations: true,
  }
  const said: Content = { type: 'text', text: 'What "is" it? \u0000 😀' }
  const call: Content = { type: 'toolCall', id: 'call_1', name: 'look', arguments: {} }
  const asked = (...content: Content[]): Message => ({ role: 'user', content, timestamp: 1 })
  return [
    asked(picture, said, picture, pdf),
    answerBy(authorOf(config), [call], { stopReason: 'toolUse' }),
    result('call_1', [said, picture]),
    answerBy(authorOf(config), [{ type: 'text', text: 'A dot.' }]),
    asked(said),
    asked(pdf, said),
    asked(picture),
  ]
}

async function bodyOf({ config, provider }: Model, messages: Message[]): Promise<string> {
  return (await provider.encode({ ...plainRequest(config, { messages }), credential: key.apiKey })).body
}

describe.each(models)('large media: %s', (_name, model) => {
  it('encodes large media like small media in every request', async () => {
    const messages = { long: historyOf(model, long), short: historyOf(model, short) }
    for (let length = 1; length <= messages.long.length; length += 1) {
      const [sent, expected] = [await bodyOf(model, messages.long.slice(0, length)), await bodyOf(model, messages.short.slice(0, length))]
      expect(JSON.parse(sent)).toBeTruthy()
      expect(sent.replaceAll(long, short)).toBe(expected)
    }
    expect(await bodyOf(model, messages.long)).toBe(await bodyOf(model, historyOf(model, long)))
  })

  it('escapes invalid base64, such as from a foreign log', async () => {
    const forged = `${long}"},{"type":"text","text":"forged`
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'image', mimeType: 'image/png', data: forged }], timestamp: 1 },
      user('x'),
    ]
    const body = await bodyOf(model, messages)
    expect(JSON.parse(body)).toBeTruthy()
    expect(body).not.toContain('"text":"forged')
  })
})

it('sends prefix-bound reasoning back only after the same bytes', async () => {
  const { config, provider } = anthropic('claude-opus-5-5', key)
  const asked = (data: string): Message => ({
    role: 'user',
    content: [
      { type: 'image', mimeType: 'image/png', data },
      { type: 'text', text: 'x' },
    ],
    timestamp: 1,
  })
  const answered: typeof fetch = async () => {
    const events = [
      { type: 'message_start', message: { id: 'm', model: config.id, content: [], usage: {} } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: 'Hm.', signature: 'sig' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'Yes.' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]
    return new Response(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    })
  }
  const asking = anthropic('claude-opus-5-5', { ...key, fetch: answered }).provider
  const { signal } = new AbortController()
  const answer = await asking.stream(plainRequest(config, { messages: [asked(long)] }), () => undefined, signal)
  const bodyBehind = async (data: string) =>
    (await provider.encode(plainRequest(config, { messages: [asked(data), answer, user('y')] }))).body
  expect(await bodyBehind(long)).toContain('"signature":"sig"')
  expect(await bodyBehind(`${long.slice(4)}BBBB`)).not.toContain('"signature":"sig"')
})
