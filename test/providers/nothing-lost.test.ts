import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { runs } from '../support/runs.ts'
import { answering as awsAnswering, frame, linesOf } from './bedrock/call.ts'
import { answering, fixture, utf8 } from './bytes.ts'
import { samplesOf, sseOf } from './content-samples.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

type Json = Record<string, unknown>
type Frame = { event?: string | undefined; data: Json }

/** Where something new may stand in a frame of a protocol, and what the answer is read with. */
interface Protocol {
  model: (frames: readonly Frame[]) => Model
  frames: () => Frame[][]
  /** The objects of a frame that hold content: a field of a later version may appear in each. */
  places: (data: Json) => Json[]
  /** A frame of a kind that is not known, with content. */
  stranger?: (mark: string) => Frame
  /** A whole block of a kind that is not known, of the message that `before` is part of. */
  block?: (mark: string, before: Json) => Frame[]
}

const objects = (...values: unknown[]): Json[] =>
  values.filter((value): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value))
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const at = (value: unknown, name: string): unknown => Object(value)[name]

function parsed(text: string): Frame[] {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .flatMap((block) => {
      const event = /^event: ?(.*)$/m.exec(block)?.[1]
      const data = /^data: ?(.*)$/m.exec(block)?.[1]
      if (data === undefined || !data.startsWith('{')) return []
      return [{ event, data: JSON.parse(data) as Json }]
    })
}

const fixturesOf = (folder: string, names: (name: string) => boolean = () => true) =>
  readdirSync(new URL(`../fixtures/${folder}/`, import.meta.url))
    .filter((name) => name.endsWith('.sse') && names(name))
    .map((name) => parsed(new TextDecoder().decode(fixture(`${folder}/${name}`))))

const sampled = (protocol: string) => samplesOf(protocol).map((sample) => parsed(new TextDecoder().decode(sseOf(sample))))

const sseBytes = (frames: readonly Frame[], last = '') =>
  utf8(
    `${frames.map(({ event, data }) => `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`).join('')}${last}`,
  )

const ofGemini = (data: Json): Json[] => {
  const candidates = objects(...listOf(data.candidates)).filter(({ index }) => (index ?? 0) === 0)
  const contents = objects(...candidates.map(({ content }) => content))
  return [...objects(data), ...candidates, ...contents, ...objects(...contents.flatMap(({ parts }) => listOf(parts)))]
}

const ofResponses = (data: Json): Json[] => {
  const done = data.type === 'response.output_item.done' ? objects(data.item) : []
  const messages = done.filter(({ type }) => type === 'message' || type === 'function_call')
  const isText = data.type === 'response.output_text.delta' || data.type === 'response.output_item.done'
  return [...(isText ? [data] : []), ...messages, ...objects(...messages.flatMap(({ content }) => listOf(content)))]
}

const responses: Omit<Protocol, 'model' | 'frames'> = {
  places: ofResponses,
  stranger: (mark) => ({ event: `response.${mark}.delta`, data: { type: `response.${mark}.delta`, delta: 'beam' } }),
  block: (mark) =>
    ['response.output_item.added', 'response.output_item.done'].map((type) => ({
      event: type,
      data: { type, output_index: 77, item: { type: mark, id: 'i77', beam: 'x' } },
    })),
}

const geminiBlock = (mark: string, { responseId, modelVersion }: Json): Frame[] => {
  const candidates = [{ content: { role: 'model', parts: [{ [mark]: { beam: 'x' } }] }, index: 0 }]
  return [{ event: undefined, data: { candidates, responseId, modelVersion } }]
}

const anthropicKinds = new Set(['text', 'thinking', 'tool_use'])

const protocols: Record<string, Protocol> = {
  anthropic: {
    model: (frames) => anthropic('claude-test', { fetch: answering([sseBytes(frames)]) }),
    frames: () => [...fixturesOf('anthropic'), ...sampled('anthropic_messages')],
    places: (data) => {
      const block = objects(data.content_block).filter(({ type }) => anthropicKinds.has(String(type)))
      const isRead = ['content_block_delta', 'message_delta', 'content_block_start'].includes(String(data.type))
      return isRead ? [data, ...objects(data.delta), ...block] : objects(data.message)
    },
    stranger: (mark) => ({ event: mark, data: { type: mark, beam: 'x' } }),
    block: (mark) =>
      [
        { type: 'content_block_start', index: 77, content_block: { type: mark } },
        { type: 'content_block_delta', index: 77, delta: { type: `${mark}_delta`, beam: 'x' } },
        { type: 'content_block_stop', index: 77 },
      ].map((data) => ({ event: data.type, data })),
  },
  chat: {
    model: (frames) => openai('gpt-5.2', { fetch: answering([sseBytes(frames, 'data: [DONE]\n\n')]) }),
    frames: () => [...fixturesOf('openai'), ...sampled('openai_completions')],
    places: (data) => {
      const choices = objects(...listOf(data.choices)).filter(({ index }) => (index ?? 0) === 0)
      return [data, ...choices, ...objects(...choices.map(({ delta }) => delta))]
    },
  },
  responses: {
    ...responses,
    model: (frames) => openaiResponses('gpt-5.2', { fetch: answering([sseBytes(frames)]) }),
    frames: () => [...fixturesOf('openai-responses'), ...sampled('openai_responses')],
  },
  azure: {
    ...responses,
    model: (frames) => azure('gpt-5.2', { resource: 'r', fetch: answering([sseBytes(frames)]) }),
    frames: () => [...fixturesOf('openai-responses'), ...sampled('azure_openai_responses')],
  },
  gemini: {
    model: (frames) => google('gemini-3.8-flash', { fetch: answering([sseBytes(frames)]) }),
    frames: () => [...fixturesOf('google'), ...sampled('google_generative_ai')],
    places: ofGemini,
    block: geminiBlock,
  },
  vertex: {
    model: (frames) => vertex('gemini-3.8-flash', { fetch: answering([sseBytes(frames)]) }),
    frames: () => [
      ...fixturesOf('google'),
      ...samplesOf('google_vertex').flatMap((sample) =>
        sample.name === 'claude-search' ? [] : [parsed(new TextDecoder().decode(sseOf(sample)))],
      ),
    ],
    places: ofGemini,
    block: geminiBlock,
  },
  bedrock: {
    model: (frames) =>
      bedrock('us.amazon.nova-2-lite-v1:0', {
        region: 'us-east-1',
        fetch: awsAnswering(frames.map(({ event, data }) => frame(event ?? '', data))),
      }),
    frames: () =>
      readdirSync(new URL('../fixtures/bedrock/', import.meta.url)).map((name) =>
        new TextDecoder()
          .decode(linesOf(name.replace('.ndjson', '')))
          .trim()
          .split('\n')
          .flatMap((line) => Object.entries(JSON.parse(line) as Json).map(([event, data]) => ({ event, data: Object(data) as Json }))),
      ),
    places: (data) => {
      const { start, delta, stopReason, usage } = data
      // The fixtures hold an event of a later version.
      if ((start ?? delta ?? stopReason ?? usage) === undefined) return []
      return [data, ...objects(start, delta, at(delta, 'reasoningContent'), at(start, 'toolUse'), at(delta, 'toolUse'))]
    },
    stranger: (mark) => ({ event: mark, data: { contentBlockIndex: 0, beam: 'x' } }),
  },
}

/** Something that a later version of a service may say. */
const strange = fc.oneof(
  fc.string({ minLength: 1, maxLength: 8 }).filter((text) => text.trim() !== ''),
  fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'b', 'text', '__proto__'), fc.string(), { minKeys: 1, maxKeys: 2 }),
)

async function heard(protocol: Protocol, frames: readonly Frame[]) {
  const { provider, config } = protocol.model(frames)
  const { message, error, events } = await outcomeOf(provider, plainRequest(config))
  const warned = events.flatMap((event) => (event.type === 'warning' ? [event.warning] : []))
  return { all: JSON.stringify([message ?? Object(error).partial ?? null, warned]), warned, isWhole: message !== undefined }
}

describe.each(Object.entries(protocols))('the %s decoder on unknown data', (_name, protocol) => {
  const answers = protocol.frames()

  it('warns about no known data', async () => {
    for (const frames of answers)
      expect((await heard(protocol, frames)).warned.filter((each) => each.includes('in its response'))).toEqual([])
  })

  it('shows, keeps or reports an unknown field in any known object', async () => {
    const cases = fc.record({ which: fc.nat(), where: fc.nat(), place: fc.nat(), value: strange })
    await fc.assert(
      fc.asyncProperty(cases, async ({ which, where, place, value }) => {
        const frames = structuredClone(answers[which % answers.length] ?? [])
        if (!(await heard(protocol, frames)).isWhole) return
        const open = frames.flatMap(({ data }) => protocol.places(data))
        const target = open[(where + place) % Math.max(1, open.length)]
        if (target === undefined) return
        target.hologram_of_later = value
        expect((await heard(protocol, frames)).all).toContain('hologram_of_later')
      }),
      { numRuns: runs(60, 2000) },
    )
  })

  it('keeps or reports an unknown block, wherever the response is truncated', async () => {
    const { block } = protocol
    if (block === undefined) return
    const cases = fc.record({ which: fc.nat(), where: fc.nat(), rest: fc.nat() })
    await fc.assert(
      fc.asyncProperty(cases, async ({ which, where, rest }) => {
        const frames = answers[which % answers.length] ?? []
        if (frames.length < 2 || !(await heard(protocol, frames)).isWhole) return
        const at = 1 + (where % (frames.length - 1))
        // What comes behind the end of an answer is no part of it.
        if ((await heard(protocol, frames.slice(0, at))).isWhole) return
        const after = frames.slice(at, at + (rest % (frames.length - at + 1)))
        expect((await heard(protocol, [...frames.slice(0, at), ...block('hologram', frames[at - 1]?.data ?? {}), ...after])).all).toContain(
          'hologram',
        )
      }),
      { numRuns: runs(60, 2000) },
    )
  })

  it('reports unknown events that carry content', async () => {
    const { stranger } = protocol
    if (stranger === undefined) return
    for (const frames of answers) {
      if (!(await heard(protocol, frames)).isWhole) continue
      expect((await heard(protocol, [...frames.slice(0, 1), stranger('holograph'), ...frames.slice(1)])).warned.join()).toContain(
        'holograph',
      )
    }
  })
})
