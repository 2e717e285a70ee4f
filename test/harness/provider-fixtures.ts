import type { ProviderFixture } from '../../testing/index.ts'
import type { Wire } from './fixture-model.ts'
import { awsFrame } from './server/bedrock.ts'

interface Answer {
  body: string | Uint8Array
  contentType?: string
  /** A text inside the event that ends the answer. */
  terminal: string
  /** Whether the service names its calls. Default: yes. */
  hasIds?: boolean
}

const sse = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

function binary(...events: [type: string, fields: object][]): Uint8Array {
  const frames = events.map(([type, fields]) => awsFrame({ ':event-type': type, ':message-type': 'event' }, JSON.stringify(fields)))
  return Uint8Array.from(frames.flatMap((frame) => [...frame]))
}

const anthropic: Answer = {
  body: sse(
    { type: 'message_start', message: { content: [], usage: { input_tokens: 2 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Ü🌍' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c1', name: 'read', input: {} } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"path":' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '"é"}' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ),
  terminal: 'message_stop',
}

const chat = (delta: object, reason: string | null = null): object => ({ choices: [{ index: 0, delta, finish_reason: reason }] })

const openai: Answer = {
  body: sse(
    chat({ content: 'Ü🌍' }),
    chat({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":' } }] }),
    chat({ tool_calls: [{ index: 0, function: { arguments: '"é"}' } }] }),
    chat({}, 'tool_calls'),
  ),
  terminal: '"finish_reason":"tool_calls"',
}

const functionCall = { type: 'function_call', id: 'f1', call_id: 'c1', name: 'read' }

const responses: Answer = {
  body: sse(
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm1', role: 'assistant', content: [] } },
    { type: 'response.output_text.delta', output_index: 0, item_id: 'm1', content_index: 0, delta: 'Ü🌍' },
    { type: 'response.output_item.added', output_index: 1, item: { ...functionCall, arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'f1', delta: '{"path":' },
    { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'f1', delta: '"é"}' },
    { type: 'response.output_item.done', output_index: 1, item: { ...functionCall, arguments: '{"path":"é"}' } },
    { type: 'response.completed', response: { status: 'completed', usage: { input_tokens: 2, output_tokens: 1 } } },
  ),
  terminal: '{"type":"response.completed"',
}

const gemini = (parts: object[], more: object = {}): object => ({ candidates: [{ content: { parts, role: 'model' }, ...more }] })

const google: Answer = {
  body: sse(
    gemini([{ text: 'Ü' }]),
    gemini([{ text: '🌍' }, { functionCall: { name: 'read', args: { path: 'é' } } }]),
    gemini([], { finishReason: 'STOP' }),
  ),
  terminal: '"finishReason"',
  hasIds: false,
}

const bedrock: Answer = {
  body: binary(
    ['messageStart', { role: 'assistant' }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Ü🌍' } }],
    ['contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 'c1', name: 'read' } } }],
    ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{"path":"é"}' } } }],
    ['contentBlockStop', { contentBlockIndex: 1 }],
    ['messageStop', { stopReason: 'tool_use' }],
    ['metadata', { usage: { inputTokens: 2, outputTokens: 1, totalTokens: 3 } }],
  ),
  contentType: 'application/vnd.amazon.eventstream',
  terminal: 'messageStop',
}

const answers: Record<Wire, Answer> = {
  anthropic,
  openai,
  'openai-responses': responses,
  azure: responses,
  google,
  vertex: google,
  bedrock,
}

/** One answer as `streamProviderSuite` wants it. Short, and neither in a file nor on a server: every runtime cuts it at every byte. */
export function providerFixture(wire: Wire): ProviderFixture {
  const { hasIds = true, contentType = 'text/event-stream', ...shared } = answers[wire]
  const call = { name: 'read', arguments: { path: 'é' } }
  const toolCalls = [hasIds ? { ...call, id: 'c1' } : call]
  return { ...shared, contentType, name: 'text and a call', expect: { text: 'Ü🌍', toolCalls, stopReason: 'toolUse' } }
}
