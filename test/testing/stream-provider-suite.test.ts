import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai, openaiCompatible } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import { type ProviderFixture, streamProviderSuite } from '../../testing/index.ts'
import { runs } from '../support/runs.ts'

const runner = { describe, it, expect }
const apiKey = 'sk-canary-4f9d2c7b81'
/** In soak at every byte. `decodeLaws` cuts each of these decoders in its own tests too. */
const cuts = runs(20, Number.POSITIVE_INFINITY)

function fixture(path: string, expected: ProviderFixture['expect'], terminal?: string): ProviderFixture {
  const body = readFileSync(new URL(`../fixtures/${path}.sse`, import.meta.url))
  const found = { name: path, body: new Uint8Array(body), contentType: 'text/event-stream', expect: expected }
  return terminal === undefined ? found : { ...found, terminal }
}

const bothTools = [
  { name: 'read', arguments: { path: 'a.ts' } },
  { name: 'list', arguments: { depth: 2 } },
]

streamProviderSuite(runner, {
  name: 'anthropic',
  cuts,
  create: (fetch) => anthropic('claude-test', { apiKey, fetch }),
  fixtures: [
    fixture('anthropic/text', { text: 'Grüße 🌍, wörld', stopReason: 'stop' }, 'message_stop'),
    fixture('anthropic/thinking', { text: 'Done.', thinking: 'Let me see.', stopReason: 'stop' }, 'message_stop'),
    fixture('anthropic/redacted', { text: 'Done.', stopReason: 'stop' }, 'message_stop'),
    fixture('anthropic/parallel-tools', { text: 'Both.', toolCalls: bothTools, stopReason: 'toolUse' }, 'message_stop'),
    fixture('anthropic/mid-stream-error', { errorCode: 'api' }),
    fixture('anthropic/truncated', { errorCode: 'network' }),
  ],
})

const stop = '"finish_reason":"stop"'
const toolCalls = '"finish_reason":"tool_calls"'

streamProviderSuite(runner, {
  name: 'openai',
  cuts,
  create: (fetch) => openai('gpt-test', { apiKey, fetch }),
  fixtures: [
    fixture('openai/text', { text: 'Grüße, Welt 😀!', stopReason: 'stop' }, stop),
    fixture(
      'openai/parallel-tools',
      {
        text: 'Both.',
        toolCalls: [
          { id: 'call_a', name: 'read', arguments: { path: 'é.ts' } },
          { id: 'call_b', name: 'list', arguments: { depth: 2 } },
        ],
        stopReason: 'toolUse',
      },
      toolCalls,
    ),
    fixture('openai/mid-stream-error', { errorCode: 'api' }),
    fixture('openai/truncated', { errorCode: 'network' }),
  ],
})

streamProviderSuite(runner, {
  name: 'openaiCompatible',
  cuts,
  create: (fetch) => openaiCompatible('some-model', { apiKey, fetch, baseUrl: 'https://example.test/v1' }),
  fixtures: [
    fixture('openai/reasoning', { text: 'Done', thinking: 'Let me think…', stopReason: 'stop' }, stop),
    fixture(
      'openai/mistral',
      {
        text: '4',
        thinking: 'Two plus two is four.',
        toolCalls: [{ id: 'abcdefghi', name: 'note', arguments: { n: 4 } }],
        stopReason: 'toolUse',
      },
      toolCalls,
    ),
  ],
})

const finishReason = '"finishReason"'
const threeCalls = [
  { id: 'fc-1', name: 'read', arguments: { path: 'a.ts' } },
  { id: 'fc-2', name: 'list', arguments: { depth: 2 } },
  { id: 'fc-3', name: 'read', arguments: { path: 'é.ts' } },
]

streamProviderSuite(runner, {
  name: 'google',
  cuts,
  create: (fetch) => google('gemini-3.5-flash', { apiKey, fetch }),
  fixtures: [
    fixture('google/text', { text: 'Grüße 🌍, wörld', stopReason: 'stop' }, finishReason),
    fixture('google/thinking', { text: 'Done.', thinking: 'Let me see.', stopReason: 'stop' }, finishReason),
    fixture('google/parallel-tools', { text: 'Both.', toolCalls: threeCalls, stopReason: 'toolUse' }, finishReason),
    fixture('google/safety', { text: 'I can', stopReason: 'guardRail' }, finishReason),
    fixture('google/blocked-prompt', { text: '', stopReason: 'guardRail' }, 'blockReason'),
    fixture('google/mid-stream-error', { errorCode: 'api' }),
    fixture('google/truncated', { errorCode: 'network' }),
  ],
})

// The decoder of google.
streamProviderSuite(runner, {
  name: 'vertex',
  cuts: runs(5, Number.POSITIVE_INFINITY),
  create: (fetch) => vertex('gemini-2.5-flash', { apiKey, fetch, project: 'p', location: 'us-central1' }),
  fixtures: [
    fixture('google/text', { text: 'Grüße 🌍, wörld', stopReason: 'stop' }, finishReason),
    fixture('google/parallel-tools', { text: 'Both.', toolCalls: threeCalls, stopReason: 'toolUse' }, finishReason),
    fixture('google/max-tokens', { text: 'Once upon a time', stopReason: 'length' }, finishReason),
    fixture('google/error-list', { errorCode: 'rateLimited' }),
  ],
})

const completed = '{"type":"response.completed"'
const responsesTools = {
  text: 'Both.',
  thinking: 'Two things.',
  toolCalls: [
    { id: 'call_1', name: 'read', arguments: { path: 'é.ts' } },
    { id: 'call_2', name: 'list', arguments: { depth: 2 } },
  ],
  stopReason: 'toolUse',
} as const

streamProviderSuite(runner, {
  name: 'openaiResponses',
  cuts,
  create: (fetch) => openaiResponses('gpt-test', { apiKey, fetch }),
  fixtures: [
    fixture('openai-responses/text', { text: 'Grüße 🌍, wörld', stopReason: 'stop' }, completed),
    fixture(
      'openai-responses/reasoning',
      { text: 'Done.', thinking: '**Plan**\n\nLook first.**Then** answer.', stopReason: 'stop' },
      completed,
    ),
    fixture('openai-responses/parallel-tools', responsesTools, completed),
    fixture('openai-responses/refusal', { text: "I'm sorry, no.", stopReason: 'guardRail' }, completed),
    fixture('openai-responses/mid-stream-error', { errorCode: 'api' }),
    fixture('openai-responses/failed', { errorCode: 'contextOverflow' }),
    fixture('openai-responses/truncated', { errorCode: 'network' }),
  ],
})

// The decoder of openaiResponses.
streamProviderSuite(runner, {
  name: 'azure',
  cuts: runs(5, Number.POSITIVE_INFINITY),
  create: (fetch) => azure('my-deployment', { apiKey, fetch, resource: 'my-resource' }),
  fixtures: [
    fixture('openai-responses/late-encryption', { text: 'Yes.', thinking: 'Hm.', stopReason: 'stop' }, completed),
    fixture('openai-responses/parallel-tools', responsesTools, completed),
    fixture('openai-responses/truncated', { errorCode: 'network' }),
  ],
})
