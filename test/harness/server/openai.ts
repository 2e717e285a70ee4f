import type { Protocol, Turn } from './scenarios.ts'

interface ChatMessage {
  role: string
  content: string | { text?: string }[] | null
}

function chunk(choices: object[], usage: object | null = null): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fixture', choices, usage })}\n\n`
}

const delta = (fields: object): string => chunk([{ index: 0, delta: fields, finish_reason: null }])

function* framesOf(turn: Turn): Generator<string> {
  yield delta({ role: 'assistant', content: '' })
  for (const content of turn.text) yield delta({ content })
  for (const [index, call] of (turn.calls ?? []).entries()) {
    yield delta({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] })
    for (const piece of JSON.stringify(call.arguments).match(/.{1,4}/g) ?? []) {
      yield delta({ tool_calls: [{ index, function: { arguments: piece } }] })
    }
  }
  yield chunk([{ index: 0, delta: {}, finish_reason: turn.calls ? 'tool_calls' : 'stop' }])
  yield chunk([], { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 })
  yield 'data: [DONE]\n\n'
}

/** OpenAI Chat Completions. */
export const openai: Protocol = {
  endpoint: '/v1/chat/completions',
  frames: (turn) => [...framesOf(turn)],
  failure: (message) => JSON.stringify({ error: { message, type: 'server_error', code: null } }),
  toolResults(body) {
    const { messages } = body as { messages: ChatMessage[] }
    const newest = messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1)
    return newest.filter((message) => message.role === 'tool').map((message) => plainText(message.content))
  },
}

function plainText(content: ChatMessage['content']): string {
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('')
}
