import type { Protocol, Turn } from './scenarios.ts'

interface InputItem {
  type?: string
  role?: string
  output?: string | { text?: string }[]
}

/** Events numbered as the service numbers them. */
class Frames {
  readonly list: string[] = []
  readonly output: object[] = []

  push(type: string, fields: object): void {
    this.list.push(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.list.length, ...fields })}\n\n`)
  }

  /** One output item: opened, filled by `deltas`, done. */
  item(opened: object, done: object, deltas: (place: object) => void): void {
    const output_index = this.output.length
    this.push('response.output_item.added', { output_index, item: opened })
    deltas({ output_index, item_id: 'id' in opened ? opened.id : undefined })
    this.push('response.output_item.done', { output_index, item: done })
    this.output.push(done)
  }
}

function framesOf(turn: Turn): string[] {
  const frames = new Frames()
  const response = { id: 'resp_1', object: 'response', model: 'fixture', error: null, incomplete_details: null }
  frames.push('response.created', { response: { ...response, status: 'in_progress', output: [], usage: null } })
  const reasoning = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'c2VjcmV0' }
  if (turn.calls) frames.item(reasoning, reasoning, () => undefined)
  const message = { id: 'msg_1', type: 'message', role: 'assistant', phase: 'final_answer', status: 'in_progress', content: [] }
  const text = { type: 'output_text', text: turn.text.join(''), annotations: [] }
  frames.item(message, { ...message, status: 'completed', content: [text] }, (place) => {
    for (const delta of turn.text) frames.push('response.output_text.delta', { ...place, content_index: 0, delta })
  })
  for (const [index, call] of (turn.calls ?? []).entries()) {
    const item = { id: `fc_${index}`, type: 'function_call', call_id: call.id, name: call.name, status: 'in_progress', arguments: '' }
    const json = JSON.stringify(call.arguments)
    frames.item(item, { ...item, status: 'completed', arguments: json }, (place) => {
      for (const delta of json.match(/.{1,4}/g) ?? []) frames.push('response.function_call_arguments.delta', { ...place, delta })
      frames.push('response.function_call_arguments.done', { ...place, arguments: json })
    })
  }
  const usage = { input_tokens: 20, input_tokens_details: { cached_tokens: 0 }, output_tokens: 9, total_tokens: 29 }
  frames.push('response.completed', { response: { ...response, status: 'completed', output: frames.output, usage } })
  return frames.list
}

/** OpenAI Responses. */
export const openaiResponses: Protocol = {
  endpoint: '/v1/responses',
  frames: framesOf,
  failure: (message) => JSON.stringify({ error: { message, type: 'server_error', param: null, code: null } }),
  toolResults(body) {
    const { input } = body as { input: InputItem[] }
    const newest = input.slice(input.findLastIndex((item) => item.type === 'function_call' || item.role === 'assistant') + 1)
    return newest.filter((item) => item.type === 'function_call_output').map((item) => plainText(item.output))
  },
}

/** Azure OpenAI. */
export const azure: Protocol = { ...openaiResponses, endpoint: '/openai/v1/responses' }

function plainText(output: InputItem['output']): string {
  return typeof output === 'string' ? output : (output ?? []).map((part) => part.text ?? '').join('')
}
