import type { Protocol, Turn } from './scenarios.ts'

interface Block {
  type: string
  content?: string | { text?: string }[]
}

const event = (type: string, fields: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

function* framesOf(turn: Turn): Generator<string> {
  const usage = { input_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'fixture', content: [], stop_reason: null, usage }
  yield event('message_start', { message })
  let index = 0
  yield event('content_block_start', { index, content_block: { type: 'text', text: '' } })
  yield event('ping', {})
  for (const text of turn.text) yield event('content_block_delta', { index, delta: { type: 'text_delta', text } })
  yield event('content_block_stop', { index })
  for (const call of turn.calls ?? []) {
    index++
    yield event('content_block_start', { index, content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} } })
    for (const piece of JSON.stringify(call.arguments).match(/.{1,4}/g) ?? []) {
      yield event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: piece } })
    }
    yield event('content_block_stop', { index })
  }
  yield event('message_delta', { delta: { stop_reason: turn.calls ? 'tool_use' : 'end_turn' }, usage: { output_tokens: 9 } })
  yield event('message_stop', {})
}

/** Anthropic Messages. */
export const anthropic: Protocol = {
  endpoint: '/v1/messages',
  frames: (turn) => [...framesOf(turn)],
  failure: (message) => JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message } }),
  toolResults(body) {
    const { messages } = body as { messages: { role: string; content: string | Block[] }[] }
    const newest = messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1)
    const blocks = newest.flatMap((message) => (typeof message.content === 'string' ? [] : message.content))
    return blocks.filter((block) => block.type === 'tool_result').map((block) => plainText(block.content))
  },
}

function plainText(content: Block['content']): string {
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('')
}
