import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import type { Citation, Content, FileContent } from '../../src/contract/message/content.ts'
import type { AgentMessage } from '../../src/contract/message/message.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { defineTool } from '../../src/tools/define-tool.ts'
import type { Model } from '../../src/types/model/model.ts'
import { answering as answeringFrames, claude, frame } from './bedrock/call.ts'
import { answering, sse } from './bytes.ts'

const pdf = (name: string): FileContent => ({ type: 'file', mimeType: 'application/pdf', data: 'JVBERi0=', name, citations: true })
const picture: Content = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }
const note: FileContent = { type: 'file', mimeType: 'text/plain', data: btoa('Wind: east.'), name: 'note.txt' }
const question: Content = { type: 'text', text: 'What do they say?' }

const usage = { input_tokens: 3, output_tokens: 4 }
const anthropicStart = { type: 'message_start', message: { usage } }
const anthropicStop = (stop_reason: string) => [{ type: 'message_delta', delta: { stop_reason }, usage }, { type: 'message_stop' }]
const anthropicCites = (document_index: number, document_title: string | null) =>
  sse(
    anthropicStart,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [] } },
    {
      type: 'content_block_delta',
      index: 0,
      delta: {
        type: 'citations_delta',
        citation: {
          ...{ type: 'page_location', cited_text: 'So.', document_index, document_title },
          ...{ start_page_number: 2, end_page_number: 3, file_id: null },
        },
      },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'So.' } },
    { type: 'content_block_stop', index: 0 },
    ...anthropicStop('end_turn'),
  )
const bedrockCites = (documentIndex: number, title?: string) => [
  frame('messageStart', { role: 'assistant' }),
  frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'So.' } }),
  frame('contentBlockDelta', {
    contentBlockIndex: 0,
    delta: { citation: { ...(title && { title }), sourceContent: [], location: { documentPage: { documentIndex, start: 2, end: 3 } } } },
  }),
  frame('contentBlockStop', { contentBlockIndex: 0 }),
  frame('messageStop', { stopReason: 'end_turn' }),
  frame('metadata', { usage: { inputTokens: 1, outputTokens: 1 } }),
]
const ofAnthropic = (...answers: Uint8Array[]): Model => {
  const fetch: typeof globalThis.fetch = (...asked) => answering([answers.shift() ?? new Uint8Array()])(...asked)
  return anthropic('claude-opus-4-8', { apiKey: 'k', fetch })
}
const ofBedrock = (pieces: Uint8Array[]): Model => bedrock(claude, { apiKey: 'k', fetch: answeringFrames(pieces) })

const citationsIn = (messages: readonly AgentMessage[]): Citation[] =>
  messages.flatMap((message) =>
    message.role === 'assistant' ? message.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : [])) : [],
  )

/** The block that the first citation of an answer names, in the messages of its run. */
async function citedIn(model: Model, content: Content[], options: Partial<AgentOptions> = {}) {
  const { messages } = await new Agent({ model, ...options }).prompt({ role: 'user', content }).result
  const [citation] = citationsIn(messages)
  const { messageId, fileIndex = -1 } = citation?.document ?? {}
  const message = messages.find((each) => 'id' in each && each.id === messageId)
  return {
    citation,
    block: message !== undefined && 'content' in message ? message.content.filter(({ type }) => type === 'file')[fileIndex] : undefined,
  }
}

describe('a page citation', () => {
  it.each([
    ['Anthropic', () => ofAnthropic(anthropicCites(1, 'b.pdf'))],
    ['Bedrock', () => ofBedrock(bedrockCites(1, 'document-2'))],
    ['Bedrock, without a title', () => ofBedrock(bedrockCites(1))],
  ])('refers to the content block with the cited page: %s', async (_name, model) => {
    const named = _name.startsWith('Bedrock') ? [pdf('a.pdf'), picture, pdf('b.pdf')] : [pdf('a.pdf'), note, picture, pdf('b.pdf')]
    const { citation, block } = await citedIn(model(), [...named, question])
    expect(citation?.document).toMatchObject({ index: 1, unit: 'page', start: 2, end: 3 })
    expect(block).toMatchObject({ type: 'file', name: 'b.pdf' })
    if (citation?.title !== undefined) expect(citation.title).toBe('b.pdf')
  })

  it('refers to no block if the provider cites an unknown document', async () => {
    for (const model of [ofAnthropic(anthropicCites(0, 'other.pdf')), ofAnthropic(anthropicCites(7, 'a.pdf'))]) {
      const { citation, block } = await citedIn(model, [pdf('a.pdf'), question])
      expect(block).toBeUndefined()
      expect(citation?.document).toEqual({ index: expect.any(Number), unit: 'page', start: 2, end: 3 })
    }
  })

  it('finds the cited block despite blocks that transformContext adds', async () => {
    const old: FileContent = { type: 'file', mimeType: 'application/pdf', fileId: 'file_1', api: 'openAiResponses', name: 'b.pdf' }
    const labelled: Partial<AgentOptions> = {
      transformContext: (messages) =>
        messages.map((each) => (each.role === 'user' ? { ...each, content: [{ type: 'text', text: 'Label' }, ...each.content] } : each)),
    }
    const { block } = await citedIn(ofAnthropic(anthropicCites(0, 'a.pdf')), [old, pdf('a.pdf'), question], labelled)
    expect(block).toMatchObject({ name: 'a.pdf' })
  })

  it('finds the cited block among tool results, with failed ones last', async () => {
    const result = (name: string, isError: boolean) =>
      defineTool({ name, description: name, parameters: { type: 'object' }, execute: () => ({ content: [pdf(`${name}.pdf`)], isError }) })
    const tools = [result('bad', true), result('good', false)]
    const calls = sse(
      anthropicStart,
      ...['bad', 'good'].flatMap((name, index) => [
        { type: 'content_block_start', index, content_block: { type: 'tool_use', id: `toolu_${name}`, name, input: {} } },
        { type: 'content_block_stop', index },
      ]),
      ...anthropicStop('tool_use'),
    )
    const { block } = await citedIn(ofAnthropic(calls, anthropicCites(1, 'good.pdf')), [pdf('a.pdf'), question], { tools })
    expect(block).toMatchObject({ name: 'good.pdf' })
  })
})
