import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/json.ts'
import type { Content, ProviderState } from '../../src/contract/message/content.ts'
import type { AssistantMessage, Message } from '../../src/contract/message/message.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { runs } from '../support/runs.ts'
import { anthropicFaults } from './anthropic/grammar.ts'
import { bedrockFaults } from './bedrock/grammar.ts'
import { geminiFaults } from './google/grammar.ts'
import { answerBy, authorOf, plainRequest, result, sentBody, user } from './model-call.ts'
import { chatFaults } from './openai/grammar.ts'
import { responsesFaults } from './openai-responses/grammar.ts'

/** A protocol: a model of it, what is wrong with a body, and what its services keep of a tool that they ran. */
interface Side {
  model: Model
  faults: (body: never) => string[]
  /** What goes back for a tool that the provider ran. */
  ran: (id: string) => JsonObject
}

const responses = {
  faults: ({ input }: { input: Record<string, unknown>[] }) => responsesFaults(input, new Map()),
  ran: (id: string) => ({
    items: [{ type: 'web_search_call', id: `ws_${id}`, status: 'completed', action: { type: 'search', query: 'q' } }],
  }),
}
const gemini = {
  faults: ({ contents }: { contents: never[] }) => geminiFaults(contents, { isModern: true }),
  ran: (id: string) => ({
    call: { toolCall: { id, toolType: 'URL_CONTEXT', args: {} }, thoughtSignature: 'c2ln' },
    result: { toolResponse: { id, toolType: 'URL_CONTEXT', response: {} }, thoughtSignature: 'c2ln' },
  }),
}
const sides: Record<string, Side> = {
  anthropic: {
    model: anthropic('claude-opus-4-6'),
    faults: ({ messages }: { messages: never[] }) => anthropicFaults(messages),
    ran: (id) => ({
      call: { type: 'server_tool_use', id, name: 'web_search', input: {} },
      result: { type: 'web_search_tool_result', tool_use_id: id, content: [] },
    }),
  },
  chat: { model: openai('gpt-5.2'), faults: ({ messages }: { messages: never[] }) => chatFaults(messages), ran: () => ({}) },
  responses: { model: openaiResponses('gpt-5.2'), ...responses },
  azure: { model: azure('gpt-5.2', { resource: 'r' }), ...responses },
  gemini: { model: google('gemini-3.8-flash'), ...gemini },
  vertex: { model: vertex('gemini-3.8-flash', { project: 'p' }), ...gemini },
  bedrock: {
    model: bedrock('us.amazon.nova-2-lite-v1:0', { region: 'us-east-1' }),
    faults: (body: never) => bedrockFaults(body, { ids: /^[a-zA-Z0-9_-]{1,64}$/, signed: false }),
    ran: (id) => ({
      call: { toolUse: { toolUseId: id, name: 'nova_grounding', input: {}, type: 'server_tool_use' } },
      result: { toolResult: { toolUseId: id, content: [{ json: {} }], type: 'nova_grounding_result' } },
    }),
  },
}

const png = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } as const
const asked: Content[] = [
  { type: 'text', text: 'What?' },
  png,
  { type: 'file', mimeType: 'application/pdf', name: 'a.pdf', data: 'JVBERi0=', citations: true },
  { type: 'file', mimeType: 'text/csv', name: 'a.csv', data: 'YSxi' },
  { type: 'file', mimeType: 'audio/wav', data: 'AAAA' },
  { type: 'image', mimeType: 'image/png', url: 'https://a.example/x.png' },
  { type: 'file', mimeType: 'application/pdf', fileId: 'f_1', api: 'anthropicMessages' },
]

/** What stands in every state of `author`, and so must be in no request of anybody else. */
const markOf = (author: string) => `state-of-${author}`

/** Blocks of an answer of `author`, as its decoder leaves them. */
function blocksOf(author: string, { model, ran }: Side): fc.Arbitrary<Content> {
  const { api, id } = model.config
  const state = (payload: JsonObject): ProviderState => ({ api, model: id, payload: { ...payload, mark: markOf(author) } })
  const name = fc.constantFrom('s1', 's2', 's3', '__proto__')
  return fc.oneof(
    fc.constantFrom<Content[]>(
      { type: 'text', text: 'Well.' },
      { type: 'text', text: 'So.', citations: [{ url: 'https://a', range: { start: 0, end: 2 } }] },
      { type: 'text', text: '', citations: [{ title: 'A' }] },
      png,
      { type: 'image', mimeType: 'image/png', url: 'https://a.example/made.png' },
      { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0=' },
      { type: 'opaque', kind: 'hologram', providerState: state({}) },
      { type: 'thinking', thinking: 'Hm.' },
    ),
    name.map(
      (tool): Content => ({
        ...{
          type: 'serviceTool',
          id: tool,
          name: 'web_search',
          input: { q: 1 },
          status: 'done',
          output: [{ url: 'https://a', title: 'A' }],
        },
        providerState: state(ran(tool)),
      }),
    ),
    name.map(
      (tool): Content => ({
        ...{ type: 'serviceTool', id: tool, name: 'web_search', status: 'failed', error: { code: 'interrupted' } },
        providerState: state(ran(tool)),
      }),
    ),
    fc.constantFrom('c1', 'c2').map((call): Content => ({ type: 'toolCall', id: call, name: 'read', arguments: {} })),
  )
}

function historyOf(author: string, side: Side): fc.Arbitrary<Message[]> {
  const stop = fc.constantFrom<AssistantMessage['stopReason'][]>('stop', 'toolUse', 'length', 'guardRail', 'aborted')
  const turn = fc.record({
    content: fc.array(blocksOf(author, side), { maxLength: 5 }),
    stop,
    shown: fc.subarray(asked),
    found: fc.subarray(asked),
    isError: fc.boolean(),
    refuses: fc.boolean(),
  })
  return fc.array(turn, { minLength: 1, maxLength: 3 }).map((turns) =>
    turns.flatMap(({ content, stop: stopReason, shown, found, isError, refuses }, at): Message[] => {
      const said = content.map((block): Content => (block.type === 'toolCall' ? { ...block, id: `${block.id}_${at}` } : block))
      const answer = answerBy(authorOf(side.model.config), said, { stopReason, ...(refuses && { refusal: 'Well.' }) })
      const results = said.flatMap((block) => (block.type === 'toolCall' ? [result(block.id, [...found], isError)] : []))
      return [{ role: 'user', content: [...shown], timestamp: at }, answer, ...results, user('And?')]
    }),
  )
}

const pairs = Object.entries(sides).flatMap(([author, side]) =>
  Object.entries(sides).map(([reader, target]) => ({ author, side, reader, target })),
)

describe('a conversation continued with another provider', () => {
  it.each(pairs)('encodes a history from $author for $reader', async ({ author, side, reader, target }) => {
    const { provider, config } = target.model
    await fc.assert(
      fc.asyncProperty(historyOf(author, side), async (messages) => {
        const before = JSON.stringify(messages)
        const body = await sentBody(provider, plainRequest(config, { messages, cache: { type: 'disabled' } }))
        expect(JSON.stringify(messages)).toBe(before)
        // What is sent back is the service's own, which the grammars of histories do not know.
        if (author === reader) return
        expect(JSON.stringify(body)).not.toContain(markOf(author))
        expect(target.faults(body as never)).toEqual([])
      }),
      { numRuns: runs(25, 205) },
    )
  })
})
