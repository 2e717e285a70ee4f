import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import { type AssistantMessage, textOf, toolCallsOf } from '../../../src/contract/message/message.ts'
import { openai } from '../../../src/providers/openai.ts'
import { answering } from '../bytes.ts'
import { type Expected, samplesOf, sseOf } from '../content-samples.ts'
import { outcomeOf, plainRequest, sentBody, user } from '../model-call.ts'

const id = 'gpt-5.2'
const samples = samplesOf('openai_completions')

async function read(bytes: Uint8Array[]): Promise<{ message: AssistantMessage; warnings: string[] }> {
  const { provider, config } = openai(id, { apiKey: 'k', fetch: answering(bytes) })
  const { message, error, events } = await outcomeOf(provider, plainRequest(config))
  expect(error).toBeUndefined()
  if (message === undefined) throw new Error('no message')
  return { message, warnings: events.flatMap((event) => (event.type === 'warning' ? [event.warning] : [])) }
}

type ServiceTool = Extract<Content, { type: 'serviceTool' }>

function holds(message: AssistantMessage, wanted: Expected & { logprobs?: [string, number][]; transcript?: string }): void {
  if (wanted.refusal !== undefined) expect(message).toMatchObject({ refusal: wanted.refusal, stopReason: 'guardRail' })
  expect(textOf(message.content)).toBe(wanted.text ?? '')
  if (wanted.stop !== undefined) expect(message.stopReason).toBe(wanted.stop)
  expect(toolCallsOf(message.content).map((call) => call.id)).toEqual((wanted.toolCalls ?? []).map((call) => call.id))
  const tools = message.content.filter((block): block is ServiceTool => block.type === 'serviceTool')
  for (const [at, { name, output, status = 'done' }] of (wanted.serviceTools ?? []).entries()) {
    expect(tools[at]).toMatchObject({ name, status, ...(output !== undefined && { output }) })
  }
  const citations = message.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))
  for (const [at, { url, title, range }] of (wanted.citations ?? []).entries()) {
    expect(citations[at]).toMatchObject({ url, title, ...(range !== undefined && { range: { start: range[0], end: range[1] } }) })
  }
  expect(citations).toHaveLength(wanted.citations?.length ?? 0)
  const media = message.content.flatMap((block) => (block.type === 'image' || block.type === 'file' ? [block] : []))
  for (const [at, { mimeType, data }] of (wanted.media ?? []).entries()) {
    expect(media[at]).toMatchObject({ mimeType, data: Array.isArray(data) ? data.join('') : data })
  }
  const kinds = message.content.flatMap((block) => (block.type === 'opaque' ? [block.kind] : []))
  expect(kinds).toEqual(wanted.opaque ?? [])
  const { cost, searches, audioOut } = wanted.usage ?? {}
  if (cost !== undefined) expect(message.usage.reportedCost).toBe(cost)
  if (searches !== undefined) expect(message.usage.searches).toBe(searches)
  if (audioOut !== undefined) expect(message.usage.audioOutput).toBe(audioOut)
  if (wanted.logprobs !== undefined) expect(message.logprobs?.map(({ token, logprob }) => [token, logprob])).toEqual(wanted.logprobs)
  if (wanted.transcript !== undefined) expect(media[0]).toMatchObject({ context: wanted.transcript })
}

async function echo(message: AssistantMessage): Promise<Record<string, unknown>[]> {
  const { provider, config } = openai(id, { apiKey: 'k' })
  const { messages } = await sentBody<{ messages: Record<string, unknown>[] }>(
    provider,
    plainRequest(config, { messages: [user('Hi'), message, user('Go on.')] }),
  )
  return messages
}

describe.each(samples.map((sample) => [sample.name, sample] as const))('%s', (_name, sample) => {
  it('decodes its content', async () => {
    const { message, warnings } = await read([sseOf(sample)])
    holds(message, sample.expect)
    expect(warnings).toHaveLength(sample.expect.opaque?.length ?? 0)
    await echo(message)
  })

  it('decodes the same message at any chunk boundary', async () => {
    const bytes = sseOf(sample)
    const whole = await read([bytes])
    for (let at = 1; at < bytes.length; at += 97) {
      const { message } = await read([bytes.subarray(0, at), bytes.subarray(at)])
      expect(message.content).toEqual(whole.message.content)
    }
  })
})

function streamOf(...deltas: object[]): Uint8Array {
  const events = deltas.map((delta) => ({ data: { id: 'c', choices: [{ index: 0, delta }] } }))
  const end = { data: { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] } }
  return sseOf({ name: 'made', events: [...events, end, { data: '[DONE]' }], expect: {} })
}

it('sends audio by id before it expires, then its transcript', async () => {
  const spoken = (expires: number) => [{ audio: { id: 'a_1', data: 'AAAA', transcript: 'Hi' } }, { audio: { expires_at: expires } }]
  const { message: fresh } = await read([streamOf(...spoken(Date.now() / 1000 + 600))])
  expect((await echo(fresh))[1]).toMatchObject({ role: 'assistant', content: null, audio: { id: 'a_1' } })
  const { message: gone } = await read([streamOf(...spoken(1))])
  expect((await echo(gone))[1]).toEqual({ role: 'assistant', content: 'Hi' })
})

it('sends text back together with its transcript', async () => {
  const spoken = (expires: number) => [
    { content: 'Read this.' },
    { audio: { id: 'a_1', data: 'AAAA', transcript: 'Hi' } },
    { audio: { expires_at: expires } },
  ]
  const { message: fresh } = await read([streamOf(...spoken(Date.now() / 1000 + 600))])
  expect((await echo(fresh))[1]).toMatchObject({ role: 'assistant', content: 'Read this.', audio: { id: 'a_1' } })
  const { message: gone } = await read([streamOf(...spoken(1))])
  expect(JSON.stringify((await echo(gone))[1])).toMatch(/Read this\..*Hi/s)
})

it('sends a generated image back as a user image', async () => {
  const url = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
  const { message } = await read([streamOf({ content: 'Here.' }, { images: [{ type: 'image_url', image_url: { url } }] })])
  const [, , after] = await echo(message)
  expect(after).toMatchObject({ role: 'user', content: expect.arrayContaining([expect.objectContaining({ image_url: { url } })]) })
})

it('reports unknown data once', async () => {
  const { message, warnings } = await read([streamOf({ hologram: [1] }, { hologram: [2] }, { content: 'ok' })])
  expect(textOf(message.content)).toBe('ok')
  expect(warnings).toEqual([expect.stringContaining('"hologram"')])
})

it('reads fields next to text in one delta and in an unstreamed response', async () => {
  const url = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
  const tool = { index: 0, type: 'search', arguments: '{}', output: 'Tea' }
  const { message } = await read([streamOf({ content: 'ok', executed_tools: [tool], audio: { data: 'AAAA', transcript: 'Hi' } })])
  expect(message.content.map((block) => block.type)).toEqual(['text', 'serviceTool', 'file'])
  const whole = { id: 'c', choices: [{ index: 0, message: { content: 'ok', images: [{ image_url: { url } }] }, finish_reason: 'stop' }] }
  const { message: once } = await read([sseOf({ name: 'whole', events: [{ data: whole }, { data: '[DONE]' }], expect: {} })])
  expect(once.content.map((block) => block.type)).toEqual(['text', 'image'])
})

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'

it('shows results of Groq code execution and browser next to the text', async () => {
  const chart = { type: 'bar', elements: [{ label: 'a', value: 1 }] }
  const ran = { index: 0, type: 'python', arguments: '{"code":"plot()"}' }
  const code = { ...ran, output: 'done', code_results: [{ text: 'done' }, { text: '1', png: pixel }, { png: '?' }, { chart }] }
  const page = { title: 'Tea', url: 'https://example.org/tea', content: 'Leaves.' }
  const browsed = { index: 1, type: 'browser', arguments: '{}', output: '', browser_results: [page], weather: 'fine' }
  const { message, warnings } = await read([streamOf({ executed_tools: [ran] }, { executed_tools: [code, browsed] }, { content: 'ok' })])
  expect(message.content).toMatchObject([
    { type: 'serviceTool', name: 'python', status: 'done', output: ['done', { text: '1' }, { chart }] },
    { type: 'image', mimeType: 'image/png', data: pixel },
    { type: 'serviceTool', name: 'browser', output: [page] },
    { type: 'text', text: 'ok' },
  ])
  expect(warnings).toEqual([expect.stringContaining('invalid bytes'), expect.stringContaining('"weather"')])
})

it('reads the content of a source from every field', async () => {
  const cited = { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', content: 'Tea is a leaf.' } }
  const found = {
    index: 0,
    type: 'search',
    arguments: '{}',
    output: 'x',
    search_results: { results: [{ url: 'https://b.example', content: 'Hot.' }] },
  }
  const { message } = await read([streamOf({ executed_tools: [found] }, { content: 'ok', annotations: [cited] })])
  expect(message.content).toContainEqual({
    type: 'text',
    text: 'ok',
    citations: [
      { url: 'https://a.example', title: 'A', citedText: 'Tea is a leaf.' },
      { url: 'https://b.example', citedText: 'Hot.' },
    ],
  })
})

it('reads images and sources in content parts, and reports other parts', async () => {
  const parts = [
    { type: 'text', text: 'ok' },
    { type: 'tool_reference', tool: 'web_search', title: 'T', url: 'https://t.example' },
    { type: 'image_url', image_url: `data:image/png;base64,${pixel}` },
    { type: 'reference', reference_ids: [1] },
  ]
  const { message, warnings } = await read([streamOf({ content: parts })])
  expect(message.content).toMatchObject([
    { type: 'text', text: 'ok', citations: [{ url: 'https://t.example', title: 'T' }] },
    { type: 'image', data: pixel },
    { type: 'opaque', kind: 'reference' },
  ])
  expect(warnings).toEqual([expect.stringMatching(/"reference".*not sent back/)])
})
