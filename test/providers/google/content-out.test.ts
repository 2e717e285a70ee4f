import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import { type AssistantMessage, type Message, textOf, toolCallsOf } from '../../../src/contract/message/message.ts'
import { google, googleTools } from '../../../src/providers/google/index.ts'
import { answering } from '../bytes.ts'
import { type Expected, type Sample, samplesOf, sseOf } from '../content-samples.ts'
import { outcomeOf, plainRequest, result, sentBody, user } from '../model-call.ts'
import type { WireBody } from './call.ts'

const id = 'gemini-3.8-flash'
const vertex = samplesOf('google_vertex').filter(({ name }) => name !== 'claude-search')
const samples = [...samplesOf('google_generative_ai'), ...vertex]

async function read(bytes: Uint8Array[]): Promise<{ message: AssistantMessage; warnings: string[] }> {
  const { provider, config } = google(id, { apiKey: 'k', fetch: answering(bytes) })
  const { message, error, events } = await outcomeOf(provider, plainRequest(config))
  expect(error).toBeUndefined()
  if (message === undefined) throw new Error('no message')
  return { message, warnings: events.flatMap((event) => (event.type === 'warning' ? [event.warning] : [])) }
}

type ServiceTool = Extract<Content, { type: 'serviceTool' }>
const toolsOf = ({ content }: AssistantMessage) => content.filter((block): block is ServiceTool => block.type === 'serviceTool')
/** Samples spell names in several ways. */
const plainName = (name: string) => name.replaceAll('_', '').toLowerCase()

function holds(message: AssistantMessage, wanted: Expected): void {
  expect(textOf(message.content)).toBe(wanted.text ?? '')
  expect(message.stopReason).toBe(wanted.stop ?? 'stop')
  expect(toolCallsOf(message.content).map((call) => [call.id, call.name, call.arguments])).toEqual(
    (wanted.toolCalls ?? []).map((call) => [call.id, call.name, call.arguments ?? call.args]),
  )
  for (const [at, { id: wantedId, name, status = 'done', input, output, error }] of (wanted.serviceTools ?? []).entries()) {
    const tools = toolsOf(message)
    const tool = tools.find((each) => each.id === wantedId) ?? tools[at]
    expect(plainName(tool?.name ?? '')).toBe(plainName(name))
    expect(tool?.status).toBe(status)
    if (input !== undefined) expect(tool?.input).toEqual(input)
    if (output !== undefined) expect(tool?.output).toEqual(output)
    if (typeof error === 'string') expect(tool?.error?.code).toBe(error)
    else if (error !== undefined) expect(tool?.error).toMatchObject(Object(error))
  }
  const citations = message.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))
  for (const [at, { url, title, range, page, citedText }] of (wanted.citations ?? []).entries()) {
    if (url !== undefined) expect(citations[at]?.url).toBe(url)
    if (title !== undefined) expect(citations[at]?.title).toBe(title)
    if (range !== undefined) expect(citations[at]?.range).toEqual({ start: range[0], end: range[1] })
    if (page !== undefined) expect(citations[at]?.document).toMatchObject({ unit: 'page', start: page })
    if (citedText !== undefined) expect(citations[at]?.citedText).toBe(citedText)
  }
  const media = message.content.flatMap((block) => (block.type === 'image' ? [block.data] : []))
  if (wanted.media !== undefined) expect(media).toEqual(wanted.media.map(({ data }) => data))
  if (wanted.usage?.searches !== undefined) expect(message.usage.searches).toBe(wanted.usage.searches)
}

/** The parts of a stream; text that is not signed is joined, a draft has no place in the answer. */
function received({ events }: Sample): object[] {
  const parts = events.flatMap(({ data }) => {
    const { candidates } = data as { candidates: { content?: { parts: Record<string, unknown>[] } }[] }
    return candidates[0]?.content?.parts ?? []
  })
  const joined: Record<string, unknown>[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    const isText = part.text !== undefined && part.thoughtSignature === undefined && last?.text !== undefined
    if (isText && last.thoughtSignature === undefined && last.thought === part.thought) last.text = `${last.text}${part.text}`
    else if (part.inlineData === undefined || part.thought !== true) joined.push({ ...part })
  }
  return joined
}

async function echo(message: AssistantMessage): Promise<Record<string, unknown>[]> {
  const answers: Message[] = toolCallsOf(message.content).map((call) => result(call.id))
  const { provider, config } = google(id, { apiKey: 'k' })
  const messages = [user('Hi'), message, ...(answers.length > 0 ? answers : [user('Go on.')])]
  const { contents } = await sentBody<WireBody>(provider, plainRequest(config, { messages }))
  return contents[1]?.parts ?? []
}

describe.each(samples.map((sample) => [sample.name, sample] as const))('%s', (name, sample) => {
  it('decodes its content and sends it back unchanged', async () => {
    const { message, warnings } = await read([sseOf(sample)])
    holds(message, sample.expect)
    expect(warnings).toEqual([])
    const sent = await echo(message)
    // Where the finished picture stands in place of its draft, it comes before the thought.
    if (name === 'image-draft') expect(sent).toEqual(expect.arrayContaining(received(sample).filter((part) => 'inlineData' in part)))
    else expect(sent).toEqual(received(sample))
    expect(new Set(toolsOf(message).map((tool) => tool.id)).size).toBe(toolsOf(message).length)
  })

  it('decodes the same message at any chunk boundary', async () => {
    const bytes = sseOf(sample)
    const plain = ({ content }: AssistantMessage) =>
      JSON.stringify(content).replaceAll(/"id":"(call_[0-9a-f]{32}|[0-9a-f-]{36}[^"]*)"/g, '')
    const whole = plain((await read([bytes])).message)
    for (let at = 1; at < bytes.length; at += 97) {
      const { message } = await read([bytes.subarray(0, at), bytes.subarray(at)])
      expect(plain(message)).toBe(whole)
    }
  })
})

it('keeps an unknown part, warns and sends it back', async () => {
  const part = { hologram: { beams: 3 }, thoughtSignature: 'c2ln' }
  const events = [{ data: { candidates: [{ content: { parts: [part, { text: 'ok' }] }, finishReason: 'STOP' }] } }]
  const { message, warnings } = await read([sseOf({ name: 'unknown', events, expect: {} })])
  expect(message.content[0]).toMatchObject({ type: 'opaque', kind: 'hologram' })
  expect(warnings).toEqual([expect.stringContaining('"hologram"')])
  expect(await echo(message)).toEqual([part, { text: 'ok' }])
})

/** An answer of these parts, one by one. */
function partsOf(...parts: object[]) {
  const events = parts.map((part, at) => ({
    data: { candidates: [{ content: { parts: [part] }, ...(at === parts.length - 1 && { finishReason: 'STOP' }) }] },
  }))
  return read([sseOf({ name: 'parts', events, expect: {} })])
}

it('joins audio chunks to one file and sends it back as WAV', async () => {
  const mimeType = 'audio/L16;codec=pcm;rate=24000'
  const sound = (data: string, type = mimeType) => ({ inlineData: { mimeType: type, data } })
  const { message } = await partsOf(
    sound('AAAA'),
    sound('AQ=='),
    sound('AgID'),
    { text: 'ok' },
    sound('BBBB'),
    sound('CCCC', 'audio/wav'),
    sound('DDDD', 'audio/wav'),
  )
  const files = message.content.map((block) => (block.type === 'file' ? block.data : block.type))
  expect(files).toEqual([btoa('\0\0\0\x01\x02\x02\x03'), 'text', 'BBBB', 'CCCC', 'DDDD'])
  const [wave, text, , other] = await echo(message)
  const bytes = Buffer.from(Object(wave).inlineData.data, 'base64')
  expect(Object(wave).inlineData.mimeType).toBe('audio/wav')
  expect([bytes.subarray(0, 4).toString(), bytes.readUInt32LE(4), bytes.readUInt32LE(24)]).toEqual(['RIFF', bytes.length - 8, 24_000])
  expect([bytes.readUInt32LE(50), bytes.subarray(54)]).toEqual([7, Buffer.from([0, 0, 0, 1, 2, 2, 3])])
  expect([text, other]).toEqual([{ text: 'ok' }, sound('CCCC', 'audio/wav')])
})

it('omits invalid media with a warning, and detects image types from bytes', async () => {
  const jpeg = btoa(`\xff\xd8\xff\xe0${'a'.repeat(20)}`)
  const { message, warnings } = await partsOf(
    { inlineData: { mimeType: 'image/png', data: '%%%' } },
    { inlineData: { mimeType: 'image/png', data: jpeg } },
  )
  expect(message.content).toMatchObject([{ type: 'image', mimeType: 'image/jpeg', data: jpeg }])
  expect(warnings).toEqual([expect.stringContaining('"image/png" media with invalid bytes')])
})

it('reports visited pages and the service tier, and keeps the position of found images', async () => {
  const page = (retrievedUrl: string) => ({
    urlContextMetadata: { urlMetadata: [{ retrievedUrl, urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' }] },
  })
  const image = { sourceUri: 'https://example.org/page', imageUri: 'https://example.org/a.png', title: 'A' }
  const chunks = [
    { candidates: [{ content: { parts: [{ text: 'ok' }] }, ...page('https://example.org/a') }] },
    { candidates: [{ ...page('https://example.org/b'), groundingMetadata: { groundingChunks: [{ image }] }, finishReason: 'STOP' }] },
    { usageMetadata: { promptTokenCount: 1, trafficType: 'ON_DEMAND' } },
  ]
  const { message } = await read([sseOf({ name: 'pages', events: chunks.map((data) => ({ data })), expect: {} })])
  expect(message.content.flatMap((block) => (block.type === 'serviceTool' ? [block.input] : []))).toEqual([
    { url: 'https://example.org/a' },
    { url: 'https://example.org/b' },
  ])
  expect(message).toMatchObject({ serviceTier: 'ON_DEMAND', providerState: { payload: { grounding: { images: [image] } } } })
})

describe('hosted tools of Gemini', () => {
  const tools = [{ name: 'read', description: 'Reads', parameters: { type: 'object' } }]
  const sent = async (model: string, withOurs: boolean) => {
    const { provider, config } = google(model, { apiKey: 'k', serverTools: [googleTools.search()] })
    const { body, warnings } = await provider.encode(plainRequest(config, withOurs ? { tools } : {}))
    const { tools: declared, toolConfig } = JSON.parse(body)
    return { declared: declared?.map((tool: object) => Object.keys(tool)[0]), toolConfig, warnings }
  }

  it('sends hosted tools alone, or with functions if the model accepts both', async () => {
    expect(await sent(id, false)).toMatchObject({ declared: ['googleSearch'], toolConfig: undefined, warnings: [] })
    const config = { includeServerSideToolInvocations: true, functionCallingConfig: { mode: 'VALIDATED' } }
    expect(await sent(id, true)).toMatchObject({ declared: ['googleSearch', 'functionDeclarations'], toolConfig: config, warnings: [] })
  })

  it('omits hosted tools with a warning if the model rejects the mix', async () => {
    const { declared, warnings } = await sent('gemini-2.5-flash', true)
    expect(declared).toEqual(['functionDeclarations'])
    expect(warnings).toEqual([expect.stringContaining('googleSearch')])
  })

  it('rejects unknown hosted tools and names them', () => {
    expect(() => google(id, { apiKey: 'k', serverTools: [{ type: 'web_search', name: 'x' }] })).toThrow('is not a tool of the provider')
  })
})
