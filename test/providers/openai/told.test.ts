import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import { openai } from '../../../src/providers/openai.ts'
import { answering, sse } from '../bytes.ts'
import { answerBy, authorOf, outcomeOf, plainRequest, sentBody, user } from '../model-call.ts'

type Json = Record<string, unknown>

const red = 'data:image/png;base64,iVBORw0KGgo='
const delta = (fields: Json, choice: Json = {}, chunk: Json = {}): Json => ({
  id: 'c',
  choices: [{ index: 0, delta: fields, ...choice }],
  ...chunk,
})
const end: unknown[] = [delta({}, { finish_reason: 'stop' }), '[DONE]']
const link = { type: 'url_citation', url_citation: { url: 'https://a', title: 'A' } }

async function read(...chunks: readonly unknown[]) {
  const { provider, config } = openai('gpt-5.2', { fetch: answering([sse(...chunks, ...end)]) })
  const { message, error, events } = await outcomeOf(provider, plainRequest(config))
  expect(error).toBeUndefined()
  if (message === undefined) throw new Error('no message')
  const content = message.content.map(({ providerState: _own, ...block }: Content) => block)
  return { message, content, warnings: events.flatMap((event) => (event.type === 'warning' ? [event.warning] : [])) }
}

describe('unknown data in a Chat Completions stream', () => {
  it.each<[string, Json]>([
    ['next to text', delta({ content: 'x', hologram: [1] })],
    ['in a separate delta', delta({ hologram: { a: 1 } })],
    ['next to a delta', delta({ content: 'x' }, { hologram: 'y' })],
    ['next to the choices', delta({ content: 'x' }, {}, { hologram: 'y' })],
    ['in an unstreamed message', { choices: [{ index: 0, message: { content: 'x', hologram: 'y' } }] }],
  ])('warns once about an unknown field: %s', async (_name, chunk) => {
    expect((await read(chunk, delta({ content: 'y' }), chunk)).warnings).toEqual([expect.stringContaining('"hologram"')])
  })

  it('ignores counts, flags and empty values silently', async () => {
    expect((await read(delta({ content: 'x', weight: 1, isOdd: true, gone: null, blank: ' ', none: [] }))).warnings).toEqual([])
  })

  it('warns about further choices', async () => {
    const { content, warnings } = await read({ choices: [0, 1].map((index) => ({ index, delta: { content: `t${index}` } })) })
    expect(content).toEqual([{ type: 'text', text: 't0' }])
    expect(warnings).toEqual([expect.stringContaining('several responses')])
  })

  it('warns about an unreadable image', async () => {
    const urls = ['http://[bad', 'http://a/x.png', 'data:text/html;base64,AAAA', 'data:image/png;base64,%%', undefined]
    const { content, warnings } = await read(delta({ content: 'x', images: urls.map((url) => ({ image_url: { url } })) }))
    expect(content).toEqual([{ type: 'text', text: 'x' }])
    expect(warnings).toEqual(urls.map(() => expect.stringContaining('an image')))
  })

  it('warns about invalid base64 audio, and keeps its transcript', async () => {
    const { content, warnings } = await read(delta({ audio: { id: 'a', data: 'no base64!', transcript: 'Hi' } }))
    expect(content).toEqual([{ type: 'text', text: 'Hi' }])
    expect(warnings).toEqual([expect.stringContaining('not base64')])
  })
})

it('keeps sources of a response without text', async () => {
  const { content } = await read(delta({ images: [{ image_url: { url: red } }] }), delta({ annotations: [link] }))
  expect(content).toMatchObject([{ type: 'image' }, { type: 'text', text: '', citations: [{ url: 'https://a', title: 'A' }] }])
})

it('keeps the log probabilities of a refusal', async () => {
  const logprobs = { content: null, refusal: [{ token: 'No', logprob: -1 }] }
  expect((await read(delta({ refusal: 'No' }, { logprobs }))).message.logprobs).toEqual([{ token: 'No', logprob: -1 }])
})

it('marks a hosted tool as failed if its result never arrives', async () => {
  const call = { index: 0, type: 'search', arguments: '{"q":1}' }
  const { content } = await read(delta({ executed_tools: [call] }), delta({ content: 'x' }))
  expect(content[0]).toMatchObject({ type: 'serviceTool', name: 'search', status: 'failed', error: { code: 'interrupted' } })
})

it.each([Number.POSITIVE_INFINITY, -1, 'x'])('ignores a cost of %s', async (cost) => {
  const usage = JSON.stringify({ prompt_tokens: 1, cost }).replace('null', '1e400')
  const { message } = await read(delta({ content: 'x' }), `{"choices":[],"usage":${usage}}`)
  expect(message.usage.reportedCost).toBeUndefined()
})

describe('history sent back to Chat Completions', () => {
  const { provider, config } = openai('gpt-5.2')
  const sent = async (messages: Parameters<typeof plainRequest>[1]) =>
    (await sentBody<{ messages: Json[] }>(provider, plainRequest(config, messages))).messages

  it('sends a refusal back if the model refused', async () => {
    const { message } = await read(delta({ refusal: 'No.' }))
    const messages = await sent({ messages: [user('a'), message, user('b')] })
    expect(messages[1]).toEqual({ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] })
  })

  it('sends text back if the model also returned text', async () => {
    const said = answerBy(authorOf(config), [{ type: 'text', text: 'Well. No.' }], { refusal: 'No.' })
    expect((await sent({ messages: [user('a'), said, user('b')] }))[1]).toEqual({ role: 'assistant', content: 'Well. No.' })
  })

  it('names a file without a name by its type', async () => {
    const file: Content = { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0=' }
    const [message] = await sent({ messages: [{ role: 'user', content: [file], timestamp: 1 }] })
    expect(message?.content).toMatchObject([{ type: 'file', file: { filename: 'document.pdf' } }])
  })
})
