import { defineTool, type Model } from '../../../../src/index.ts'
import { anthropic, anthropicTools } from '../../../../src/providers/anthropic/index.ts'
import { google, googleTools } from '../../../../src/providers/google/index.ts'
import { openaiResponses, openaiTools } from '../../../../src/providers/openai-responses/index.ts'

export type SearchingService = 'Anthropic' | 'OpenAI' | 'Google'

/** A tool of ours beside the search: Gemini then says what it did. */
export const lookUp = defineTool({ name: 'look_up', description: 'Looks up.', parameters: { type: 'object' }, execute: () => 'nothing' })

/** A model of a service at `baseUrl` that may search. */
export function searchingModel(service: SearchingService, baseUrl: string): Model {
  const options = { apiKey: 'k', baseUrl }
  if (service === 'Anthropic') return anthropic('claude-opus-4-8', { ...options, serverTools: [anthropicTools.webSearch()] })
  if (service === 'Google') return google('gemini-3-pro', { ...options, serverTools: [googleTools.search()] })
  return openaiResponses('gpt-5.1', { ...options, serverTools: [openaiTools.webSearch()] })
}

type Json = Record<string, unknown>
const source = { title: 'Damavand', url: 'https://example.org/damavand' }
const found = 'It is 5,609 m high.'
const known = 'As I found: 5,609 m.'

/** What a service sends: of a search, and of an answer without one. `evidence` stands in a request that has the search. */
export const searchAnswers: Record<SearchingService, { evidence: readonly string[]; searched: Json[]; plain: Json[] }> = {
  Anthropic: {
    evidence: ['"id":"srvtoolu_1"', '"encrypted_content":"RU5D"', '"encrypted_index":"SURY"'],
    searched: messageOf(
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Damavand' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [{ type: 'web_search_result', ...source, encrypted_content: 'RU5D', page_age: null }],
      },
      {
        type: 'text',
        text: found,
        citations: [{ type: 'web_search_result_location', ...source, cited_text: '5,609 m', encrypted_index: 'SURY' }],
      },
    ),
    plain: messageOf({ type: 'text', text: known, citations: [] }),
  },
  OpenAI: {
    evidence: ['"id":"ws_1"', '"type":"web_search_call"'],
    searched: responseOf(
      { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'Damavand', sources: [] } },
      messageItem(found, [{ type: 'url_citation', ...source, start_index: 0, end_index: found.length }]),
    ),
    plain: responseOf(messageItem(known, [])),
  },
  Google: {
    evidence: ['"toolCall":{"id":"g1"', '"toolResponse":{"id":"g1"', '"thoughtSignature":"U0lH"'],
    searched: [
      partsOf({ toolCall: { id: 'g1', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['Damavand'] } }, thoughtSignature: 'U0lH' }),
      partsOf({ toolResponse: { id: 'g1', toolType: 'GOOGLE_SEARCH_WEB', response: { count: 1 } }, thoughtSignature: 'U0lH' }),
      partsOf({ text: found }),
      {
        candidates: [
          {
            finishReason: 'STOP',
            groundingMetadata: {
              groundingChunks: [{ web: { uri: source.url, title: source.title } }],
              groundingSupports: [{ segment: { endIndex: found.length, text: found }, groundingChunkIndices: [0] }],
            },
          },
        ],
      },
    ],
    plain: [partsOf({ text: known }), { candidates: [{ finishReason: 'STOP' }] }],
  },
}

function messageOf(...blocks: Json[]): Json[] {
  const usage = { input_tokens: 3, output_tokens: 4 }
  return [
    { type: 'message_start', message: { usage } },
    ...blocks.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ]
}

function messageItem(text: string, annotations: Json[]): Json {
  return {
    id: `msg_${text.length}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations }],
  }
}

function responseOf(...items: Json[]): Json[] {
  const usage = { input_tokens: 3, output_tokens: 4 }
  return [
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { status: 'completed', usage } },
  ]
}

function partsOf(...parts: Json[]): Json {
  return { candidates: [{ content: { role: 'model', parts } }] }
}
