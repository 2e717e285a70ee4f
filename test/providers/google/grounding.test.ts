import { describe, expect, it } from 'vitest'
import type { AssistantMessage } from '../../../src/contract/message/message.ts'
import { google } from '../../../src/providers/google/index.ts'
import { vertex } from '../../../src/providers/vertex/index.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answering, sse } from '../bytes.ts'
import { outcomeOf, plainRequest, sentBody, user } from '../model-call.ts'

type Json = Record<string, unknown>

const id = 'gemini-3.8-flash'
const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }
const web = (name: string) => ({ web: { uri: `https://${name}`, title: name } })

const chunk = (parts: Json[], rest: Json = {}, beside: Json = {}): Json => ({
  responseId: 'r',
  ...beside,
  candidates: [{ index: 0, content: { role: 'model', parts }, ...rest }],
})
const last = (parts: Json[], rest: Json = {}): Json => chunk(parts, { finishReason: 'STOP', ...rest })

async function read(chunks: readonly unknown[], changes: Partial<StreamRequest> = {}) {
  const { provider, config } = google(id, { apiKey: 'k', fetch: answering([sse(...chunks)]) })
  const { message, error, events } = await outcomeOf(provider, plainRequest(config, changes))
  expect(error).toBeUndefined()
  if (message === undefined) throw new Error('no message')
  return { message, warnings: events.flatMap((event) => (event.type === 'warning' ? [event.warning] : [])) }
}

const citationsOf = ({ content }: AssistantMessage) => content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))
const cited = (message: AssistantMessage) => citationsOf(message).map(({ url, range }) => [url, range?.start, range?.end])

describe('grounding sources in several chunks', () => {
  const first = {
    webSearchQueries: ['q1'],
    groundingChunks: [web('a')],
    groundingSupports: [{ segment: { endIndex: 4, text: 'One.' }, groundingChunkIndices: [0] }],
  }
  const both = [
    ['https://a', 0, 4],
    ['https://b', 5, 9],
  ]
  const support = (index: number) => ({ segment: { startIndex: 5, endIndex: 9, text: 'Two.' }, groundingChunkIndices: [index] })

  it.each<[string, Json]>([
    ['each with indices into its own list', { webSearchQueries: ['q2'], groundingChunks: [web('b')], groundingSupports: [support(0)] }],
    ['each with indices into the whole list', { webSearchQueries: ['q2'], groundingChunks: [web('b')], groundingSupports: [support(1)] }],
    [
      'each with all earlier sources',
      {
        webSearchQueries: ['q1', 'q2'],
        groundingChunks: [web('a'), web('b')],
        groundingSupports: [...first.groundingSupports, support(1)],
      },
    ],
  ])('merges grounding sources: %s', async (_name, second) => {
    const { message } = await read([
      chunk([{ text: 'One. ' }], { groundingMetadata: first }),
      last([{ text: 'Two.' }], { groundingMetadata: second }),
    ])
    expect(cited(message)).toEqual(both)
    const search = message.content.find((block) => block.type === 'serviceTool')
    expect(search).toMatchObject({ input: { queries: ['q1', 'q2'] }, output: [{ url: 'https://a' }, { url: 'https://b' }] })
    expect(message.usage.searches).toBe(2)
  })
})

describe('a grounding source', () => {
  it('cites a source without a URL by its title and text', async () => {
    const groundingMetadata = {
      groundingChunks: [{ retrievedContext: { title: 'v.pdf', text: 'quoted', pageNumber: 3 } }],
      groundingSupports: [{ segment: { endIndex: 3 }, groundingChunkIndices: [0] }],
    }
    const { message } = await read([last([{ text: 'Hi.' }], { groundingMetadata })])
    expect(citationsOf(message)).toEqual([
      { title: 'v.pdf', citedText: 'quoted', document: { index: 0, unit: 'page', start: 3, end: 4 }, range: { start: 0, end: 3 } },
    ])
  })

  it('reports a source of unknown kind', async () => {
    const { warnings } = await read([last([{ text: 'Hi.' }], { groundingMetadata: { groundingChunks: [{ hologram: { uri: 'x' } }] } })])
    expect(warnings).toEqual([expect.stringContaining('"hologram"')])
  })

  it('cites a source of a response without text', async () => {
    const groundingMetadata = { groundingChunks: [{ image: { sourceUri: 'https://i', title: 'I' } }] }
    const { message } = await read([last([picture], { groundingMetadata })])
    expect(citationsOf(message)).toEqual([{ url: 'https://i', title: 'I' }])
    const { provider, config } = google(id)
    const { contents } = await sentBody<{ contents: Json[] }>(provider, plainRequest(config, { messages: [user('a'), message, user('b')] }))
    expect(contents[1]).toEqual({ role: 'model', parts: [picture] })
  })

  it('keeps the search entry point that the provider requires', async () => {
    const searchEntryPoint = { renderedContent: '<div>x</div>' }
    const groundingMetadata = { groundingChunks: [web('a')], searchEntryPoint, retrievalMetadata: { score: 1 } }
    const { message } = await read([last([{ text: 'Hi.' }], { groundingMetadata })])
    const grounding = { searchEntryPoint, retrievalMetadata: { score: 1 } }
    expect(message.providerState).toEqual({ api: 'googleGenerativeAi', model: id, payload: { grounding } })
  })
})

describe('the range of a grounding segment', () => {
  it('counts bytes within the named part, else within all text', async () => {
    const part = (partIndex: number, startIndex: number, endIndex: number, text?: string) => ({
      segment: { partIndex, startIndex, endIndex, ...(text !== undefined && { text }) },
      groundingChunkIndices: [0],
    })
    const supports = [part(1, 0, 5, 'Zwö.'), part(1, 0, 5), part(0, 7, 12, 'Zwö.'), part(0, 100, 200, 'ne'), part(7, 0, 6, 'Öne. ')]
    const groundingMetadata = { groundingChunks: [web('a')], groundingSupports: supports }
    const { message } = await read([last([{ text: 'Öne. ' }, { text: 'Zwö.' }], { groundingMetadata })])
    expect(cited(message).map(([, start, end]) => [start, end])).toEqual([
      [5, 9],
      [5, 9],
      [5, 9],
      [1, 3],
      [0, 5],
    ])
  })

  it('resolves ranges in linear time', async () => {
    const words = Array.from({ length: 20_000 }, (_, at) => `Wört ${at}. `)
    let byte = 0
    const groundingSupports = words.map((text) => {
      const startIndex = byte
      byte += Buffer.byteLength(text)
      return { segment: { startIndex, endIndex: byte, text }, groundingChunkIndices: [0] }
    })
    const groundingMetadata = { groundingChunks: [web('a')], groundingSupports }
    const { message } = await read([...words.map((text) => chunk([{ text }])), last([], { groundingMetadata })])
    const [block] = message.content
    if (block?.type !== 'text') throw new Error('no text')
    expect(block.citations).toHaveLength(words.length)
    expect(block.citations?.every(({ range }, at) => block.text.slice(range?.start, range?.end) === words[at])).toBe(true)
  })

  it('limits the search for an unmatched range', async () => {
    const segment = { startIndex: 0, endIndex: 1, text: 'nowhere' }
    const groundingSupports = Array.from({ length: 50_000 }, (_, at) => ({
      segment: { ...segment, text: `no${at}` },
      groundingChunkIndices: [0],
    }))
    const groundingMetadata = { groundingChunks: [web('a')], groundingSupports }
    const { message } = await read([last([{ text: 'x'.repeat(1_000_000) }], { groundingMetadata })])
    expect(citationsOf(message)).toHaveLength(50_000)
  })
})

describe('a Gemini part', () => {
  it('shows each kind of content in a part, with the signature on the last', async () => {
    const { message, warnings } = await read([
      last([
        { text: 'hi', ...picture },
        { text: 'so', functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' },
      ]),
    ])
    expect(message.content).toMatchObject([
      { type: 'text', text: 'hi' },
      { type: 'image' },
      { type: 'text', text: 'so' },
      { type: 'toolCall', name: 'f', providerState: { payload: { thoughtSignature: 'c2ln' } } },
    ])
    expect(warnings).toEqual([])
  })

  it.each<[string, Json]>([
    ['of the part', last([{ text: 'Hi.', hologram: { a: 1 } }])],
    ['of the candidate', last([{ text: 'Hi.' }], { hologram: [1] })],
    ['of the chunk', { ...last([{ text: 'Hi.' }]), hologram: 'x' }],
    ['of the content', { candidates: [{ content: { parts: [{ text: 'Hi.' }], hologram: 'x' }, finishReason: 'STOP' }] }],
  ])('reports an unknown field %s once', async (_name, frame) => {
    const { message, warnings } = await read([chunk([{ text: 'O. ', hologram: 'x' }]), frame])
    expect(message.content).toMatchObject([{ text: 'O. Hi.' }])
    expect(warnings).toEqual([expect.stringContaining('"hologram"')])
  })
})

it('warns once about omitted candidates', async () => {
  const two = (finishReason?: string) => ({
    candidates: [0, 1].map((index) => ({ index, content: { parts: [{ text: `t${index}` }] }, finishReason })),
  })
  const { message, warnings } = await read([two(), two('STOP')])
  expect(message.content).toEqual([{ type: 'text', text: 't0t0' }])
  expect(warnings).toEqual([expect.stringContaining('several responses')])
})

describe('a response longer than one request', () => {
  const paused = chunk([{ text: 'One. ' }, { executableCode: { language: 'PYTHON', code: '1', id: 'x' } }], {
    finishReason: 'CONTINUATION',
    continuationToken: 'tok',
  })

  it('pauses, and continues with the same request and its token', async () => {
    const { message } = await read([paused])
    expect(message.stopReason).toBe('paused')
    expect(message.content[1]).toMatchObject({ type: 'serviceTool', status: 'running' })
    const { provider, config } = google(id)
    const made = plainRequest(config, { messages: [user('a'), { ...message }], continues: message })
    const body = await sentBody<Json>(provider, made)
    expect(body).toMatchObject({ continuationToken: 'tok', contents: [{ role: 'user', parts: [{ text: 'a' }] }] })
    const rest = [chunk([{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2', id: 'x' } }]), last([{ text: 'Two.' }])]
    const { message: whole } = await read(rest, { messages: made.messages, continues: message })
    expect(whole.stopReason).toBe('stop')
    expect(whole.content).toMatchObject([{ text: 'One. ' }, { type: 'serviceTool', status: 'done', output: '2' }, { text: 'Two.' }])
    expect(whole.providerState).toBeUndefined()
  })

  it('ends as truncated without a continuation token', async () => {
    const { message } = await read([chunk([{ text: 'One.' }], { finishReason: 'CONTINUATION' })])
    expect(message.stopReason).toBe('length')
  })
})

it.each([
  ['google', google],
  ['vertex', vertex],
] as const)('sends the response modalities and image options: %s', async (_name, factory) => {
  const { provider, config } = factory(id, { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9' } })
  const { generationConfig } = await sentBody<{ generationConfig: Json }>(provider, plainRequest(config))
  expect(generationConfig).toMatchObject({ responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9' } })
})

describe('a segment outside the text', () => {
  const place = (segment: Json) => ({ segment, groundingChunkIndices: [0] })

  it('cites the source without a range and warns once', async () => {
    const outside = [
      { startIndex: 2, endIndex: 99 },
      { startIndex: 50, endIndex: 60, text: 'not there' },
      { startIndex: 3, endIndex: 1 },
    ]
    const groundingMetadata = { groundingChunks: [web('a')], groundingSupports: [...outside, { startIndex: 0, endIndex: 4 }].map(place) }
    const { message, warnings } = await read([last([{ text: 'Tea.' }], { groundingMetadata })])
    expect(cited(message)).toEqual([
      ['https://a', undefined, undefined],
      ['https://a', undefined, undefined],
      ['https://a', undefined, undefined],
      ['https://a', 0, 4],
    ])
    expect(warnings).toEqual([expect.stringContaining('outside its text')])
  })

  it('finds the range by the segment text', async () => {
    const groundingMetadata = { groundingChunks: [web('a')], groundingSupports: [place({ startIndex: 50, endIndex: 53, text: 'ea.' })] }
    const { message, warnings } = await read([last([{ text: 'Tea.' }], { groundingMetadata })])
    expect(cited(message)).toEqual([['https://a', 1, 4]])
    expect(warnings).toEqual([])
  })
})

describe('hosted code execution in a response with a search', () => {
  const code = [
    { executableCode: { id: 'c1', language: 'PYTHON', code: '1+1' } },
    { codeExecutionResult: { id: 'c1', outcome: 'OUTCOME_OK', output: '2' } },
  ]
  const searched = { webSearchQueries: ['tea'], groundingChunks: [web('a')] }

  it('keeps the queries and sources of a search next to code execution', async () => {
    const { message } = await read([chunk(code), last([{ text: 'Tea.' }], { groundingMetadata: searched })])
    expect(message.content).toMatchObject([
      { name: 'code_execution', status: 'done' },
      { type: 'text', citations: [{ url: 'https://a' }] },
      { name: 'google_search', input: { queries: ['tea'] }, output: [{ url: 'https://a' }] },
    ])
    expect(message.usage.searches).toBe(1)
  })

  it('shows a search only once', async () => {
    const search = [
      { toolCall: { id: 's1', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['tea'] } } },
      { toolResponse: { id: 's1', toolType: 'GOOGLE_SEARCH_WEB', response: {} } },
    ]
    const { message } = await read([chunk([...code, ...search]), last([{ text: 'Tea.' }], { groundingMetadata: searched })])
    const names = message.content.flatMap((block) => (block.type === 'serviceTool' ? [block.name] : []))
    expect(names).toEqual(['code_execution', 'google_search_web'])
  })
})
