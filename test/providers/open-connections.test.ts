import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { frame } from './bedrock/call.ts'
import { sse, utf8 } from './bytes.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

interface Service {
  make: (fetch: typeof globalThis.fetch) => Model
  /** A complete response, its terminal event last. */
  whole: readonly Uint8Array[]
  ping: Uint8Array
  type?: string
}

const comment = utf8(': ping\n\n')
const stopped = { choices: [{ index: 0, delta: { content: 'Tea.' }, finish_reason: 'stop' }] }
const usage = { prompt_tokens: 7, completion_tokens: 2 }
const part = (text: string, finishReason?: string) => ({ candidates: [{ content: { parts: [{ text }] }, finishReason }] })
const aws = 'application/vnd.amazon.eventstream'
const spoken = [
  frame('messageStart', { role: 'assistant' }),
  frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Tea.' } }),
  frame('messageStop', { stopReason: 'end_turn' }),
]
const anthropicEvents = [
  { type: 'message_start', message: { id: 'm' } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Tea.' } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const completed = [
  { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', content_index: 0, delta: 'Tea.' },
  { type: 'response.completed', response: { status: 'completed' } },
]

const chat = (fetch: typeof globalThis.fetch) => openai('m', { fetch })
const services: Record<string, Service> = {
  'Chat Completions after finish_reason and usage': { make: chat, whole: [sse({ ...stopped, usage })], ping: comment },
  'Chat Completions after only finish_reason': { make: chat, whole: [sse(stopped)], ping: comment },
  'Chat Completions with pings as chunks': { make: chat, whole: [sse(stopped)], ping: sse({ choices: [] }) },
  'Chat Completions after [DONE]': { make: chat, whole: [sse(stopped, '[DONE]')], ping: comment },
  'Anthropic after message_stop': {
    make: (fetch) => anthropic('m', { fetch }),
    whole: [sse(...anthropicEvents)],
    ping: utf8('event: ping\ndata: {"type": "ping"}\n\n'),
  },
  'the Responses API after response.completed': {
    make: (fetch) => openaiResponses('m', { fetch }),
    whole: [sse(...completed)],
    ping: sse({ type: 'keepalive', sequence_number: 9 }),
  },
  'Gemini after STOP': { make: (fetch) => google('m', { fetch }), whole: [sse(part('Tea.', 'STOP'))], ping: comment },
  'Gemini with pings as chunks': {
    make: (fetch) => google('m', { fetch }),
    whole: [sse(part('Tea.', 'STOP'))],
    ping: sse({ usageMetadata: { promptTokenCount: 7 } }),
  },
  'Bedrock after metadata': {
    make: (fetch) => bedrock('m', { fetch }),
    whole: [...spoken, frame('metadata', {})],
    ping: frame('ping', {}),
    type: aws,
  },
  'Bedrock after only messageStop': { make: (fetch) => bedrock('m', { fetch }), whole: spoken, ping: frame('ping', {}), type: aws },
}

interface Play {
  pieces: readonly Uint8Array[]
  /** Sent each second for ever. */
  ping?: Uint8Array | undefined
  /** Sent later, each so many ms after the beginning. */
  late?: readonly (readonly [ms: number, piece: Uint8Array])[]
  type?: string | undefined
}

/** A service that never ends its body. As in engines, an abort breaks the body. */
function open({ pieces, ping, late = [], type = 'text/event-stream' }: Play): typeof fetch {
  return async (_url, { signal } = {}) => {
    const timers: ReturnType<typeof setTimeout>[] = []
    const leave = () => timers.forEach(clearTimeout)
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece)
        if (ping !== undefined) timers.push(setInterval(() => controller.enqueue(ping), 1000))
        for (const [ms, piece] of late) timers.push(setTimeout(() => controller.enqueue(piece), ms))
        signal?.addEventListener('abort', () => {
          leave()
          controller.error(new DOMException('aborted', 'AbortError'))
        })
      },
      cancel: leave,
    })
    return new Response(body, { headers: { 'content-type': type } })
  }
}

/** What a call comes to, and after how many seconds. */
async function settled({ provider, config }: Model, seconds = 120) {
  let tookSeconds: number | undefined
  let passed = 0
  const call = outcomeOf(provider, plainRequest(config)).finally(() => {
    tookSeconds = passed
  })
  for (; tookSeconds === undefined && passed < seconds; passed += 1) await vi.advanceTimersByTimeAsync(1000)
  await vi.advanceTimersByTimeAsync(5000)
  return { ...(tookSeconds === undefined ? {} : await call), tookSeconds }
}

describe.each(Object.entries(services))('%s', (_name, { make, whole, ping, type }) => {
  it('ends within seconds while the connection stays open with pings', async () => {
    const { message, error, tookSeconds } = await settled(make(open({ pieces: whole, ping, type })))
    expect(error).toBeUndefined()
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ text: 'Tea.' }] })
    expect(tookSeconds).toBeLessThanOrEqual(20)
  })

  it('ends within seconds while the connection stays open silently', async () => {
    const { message, tookSeconds } = await settled(make(open({ pieces: whole, type })))
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ text: 'Tea.' }] })
    expect(tookSeconds).toBeLessThanOrEqual(20)
  })
})

describe('data after the terminal event', () => {
  it('reads Bedrock usage that arrives between pings', async () => {
    const metadata = frame('metadata', { usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 } })
    const play = { pieces: spoken, ping: frame('ping', {}), late: [[9500, metadata]] as const, type: aws }
    const { message } = await settled(bedrock('m', { fetch: open(play) }))
    expect(message?.usage).toMatchObject({ input: 7, output: 2 })
  })

  it('extends the wait after each Gemini chunk with more content', async () => {
    const late = [9500, 19_000, 28_500].map((ms) => [ms, sse(part(`${ms} `, 'STOP'))] as const)
    const { message, tookSeconds } = await settled(google('m', { fetch: open({ pieces: [sse(part('0 ', 'STOP'))], ping: comment, late }) }))
    expect(message?.content).toMatchObject([{ text: '0 9500 19000 28500 ' }])
    expect(tookSeconds).toBeLessThanOrEqual(28 + 20)
  })
})
