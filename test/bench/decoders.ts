// npm run bench decoders [-- filter]: CPU time of each protocol's decoder as a ratio to the bare parse of the same bytes, in the same run.

import { AnthropicDecoder } from '../../src/providers/anthropic/decode.ts'
import { anthropic as anthropicModel } from '../../src/providers/anthropic/index.ts'
import { BedrockDecoder } from '../../src/providers/bedrock/decode/converse-decoder.ts'
import { GeminiDecoder } from '../../src/providers/google/decode/gemini-decoder.ts'
import type { StreamDecoder } from '../../src/providers/kit/decode/decoder.ts'
import type { CitedDocuments } from '../../src/providers/kit/optional/citations/cited-documents.ts'
import { ChatDecoder } from '../../src/providers/openai/decode/chat-decoder.ts'
import { ResponsesDecoder } from '../../src/providers/openai-responses/decode/responses-decoder.ts'
import { createAwsEventDecoder } from '../../src/stream/aws-event-stream.ts'
import { createSseDecoder } from '../../src/stream/sse.ts'
import type { StreamEvent } from '../../src/types/model/provider.ts'
import { anthropic } from '../harness/server/anthropic.ts'
import { bedrock } from '../harness/server/bedrock.ts'
import { google, vertex } from '../harness/server/google.ts'
import { openai } from '../harness/server/openai.ts'
import { openaiResponses } from '../harness/server/openai-responses.ts'
import type { Protocol } from '../harness/server/scenarios.ts'

type Emit = (event: StreamEvent) => void

/** A decoder and the protocol that makes its bytes. Azure sends what OpenAI Responses sends. */
interface Row {
  name: string
  protocol: Protocol
  decoder: (emit: Emit) => StreamDecoder
}

const model = anthropicModel('bench').config
const request = { model, systemPrompt: '', messages: [], tools: [], thinking: 'off', cache: { type: 'auto' } } as const
const cited: CitedDocuments = { messages: [], api: 'anthropicMessages', media: { media: [], mediaByUrl: [], mediaById: [] } }
const unbound = { answerTool: undefined, prefixHash: undefined, isReasoningOutside: false, hasThinkTags: false, cited }
const contextOf = (service: string, emit: Emit) => ({ request, service, emit })
const rows: Row[] = [
  { name: 'anthropic', protocol: anthropic, decoder: (emit) => new AnthropicDecoder(unbound, contextOf('Anthropic', emit)) },
  { name: 'openai', protocol: openai, decoder: (emit) => new ChatDecoder(unbound, contextOf('OpenAI', emit)) },
  { name: 'openai-responses', protocol: openaiResponses, decoder: (emit) => new ResponsesDecoder(unbound, contextOf('OpenAI', emit)) },
  { name: 'google', protocol: google, decoder: (emit) => new GeminiDecoder(unbound, contextOf('Gemini', emit)) },
  { name: 'vertex', protocol: vertex, decoder: (emit) => new GeminiDecoder(unbound, contextOf('Gemini', emit)) },
  { name: 'bedrock', protocol: bedrock, decoder: (emit) => new BedrockDecoder(unbound, contextOf('Amazon Bedrock', emit)) },
]

const samples = 21
const warmUpMs = 500
const chunkBytes = 16 * 1024
const words = ['the ', 'rain', ' in ', 'Oslo', ', as ', 'ever', ';\n', 'naïve ', '"quoted" ', '雨 ']
const turn = {
  text: Array.from({ length: 20_000 }, (_, index) => `${words[index % words.length]}${index % 97}`),
  calls: Array.from({ length: 40 }, (_, index) => ({
    id: `call_${index}`,
    name: 'add',
    arguments: { a: index, b: 2, note: 'x'.repeat(200) },
  })),
}

/** What a service would send, cut as a network would. */
function bytesOf({ frames }: Protocol): Uint8Array[] {
  const bytes = Buffer.concat(frames(turn).map((frame) => Buffer.from(frame)))
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(new Uint8Array(bytes.subarray(at, at + chunkBytes)))
  return chunks
}

/** Frames and `JSON.parse`, with nothing around them. */
function bare(chunks: readonly Uint8Array[], isBinary: boolean): number {
  let frames = 0
  const utf8 = new TextDecoder()
  const read = (json: string) => {
    if (json !== '[DONE]' && typeof JSON.parse(json) === 'object') frames += 1
  }
  const parser = isBinary ? createAwsEventDecoder((_, payload) => read(utf8.decode(payload))) : createSseDecoder(read)
  for (const chunk of chunks) parser.feed(chunk)
  return frames
}

function decode(chunks: readonly Uint8Array[], make: Row['decoder']): number {
  let events = 0
  const decoder = make(() => {
    events += 1
  })
  for (const chunk of chunks) decoder.push(chunk)
  decoder.end()
  const { content } = decoder.finish()
  const calls = content.filter((block) => block.type === 'toolCall').length
  if (calls !== turn.calls.length || events < turn.text.length)
    throw new Error(`${calls} calls and ${events} events: something was skipped.`)
  return events
}

function cpuMs(work: () => unknown): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0

function measure({ name, protocol, decoder }: Row) {
  const chunks = bytesOf(protocol)
  const isBinary = protocol === bedrock
  const sides = [() => bare(chunks, isBinary), () => decode(chunks, decoder)]
  // Until the code is compiled: by CPU time, so that a busy machine does not shorten it.
  for (const side of sides) for (let spent = 0; spent < warmUpMs; ) spent += cpuMs(side)
  const own: number[] = []
  const ratios: number[] = []
  let before = cpuMs(() => bare(chunks, isBinary))
  for (let n = 0; n < samples; n += 1) {
    const ms = cpuMs(() => decode(chunks, decoder))
    const after = cpuMs(() => bare(chunks, isBinary))
    ratios.push(ms / ((before + after) / 2))
    own.push(ms)
    before = after
  }
  const megabytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0) / 1e6
  return { decoder: name, 'ratio to the bare parse': median(ratios).toFixed(2), 'CPU ms': median(own).toFixed(1), MB: megabytes.toFixed(1) }
}

const filter = process.argv[2] ?? ''
console.table(rows.filter(({ name }) => name.includes(filter)).map(measure))
