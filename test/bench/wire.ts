/** One answer of a model: pieces of text, or tool calls whose arguments come in fragments. */
export interface Answer {
  text?: string[]
  calls?: { id: string; name: string; fragments: string[] }[]
}

/** The two wires that are measured. */
export type Wire = 'anthropic' | 'openai'

const encoder = new TextEncoder()

/** The bytes a service sends for `answer`: one chunk per event, or chunks of `chunkBytes`. */
export function encodeAnswer(wire: Wire, answer: Answer, chunkBytes?: number): Uint8Array[] {
  const frames = wire === 'anthropic' ? anthropicFrames(answer) : openaiFrames(answer)
  if (chunkBytes === undefined) return frames.map((frame) => encoder.encode(frame))
  const bytes = encoder.encode(frames.join(''))
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.slice(at, at + chunkBytes))
  return chunks
}

function anthropicFrames({ text = [], calls = [] }: Answer): string[] {
  const frames: string[] = []
  const push = (type: string, data: object) => frames.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  push('message_start', {
    message: { id: 'msg_1', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 100, output_tokens: 1 } },
  })
  let index = 0
  const block = (content_block: object, deltas: object[]) => {
    push('content_block_start', { index, content_block })
    for (const delta of deltas) push('content_block_delta', { index, delta })
    push('content_block_stop', { index })
    index += 1
  }
  if (text.length > 0)
    block(
      { type: 'text', text: '' },
      text.map((piece) => ({ type: 'text_delta', text: piece })),
    )
  for (const { id, name, fragments } of calls) {
    block(
      { type: 'tool_use', id, name, input: {} },
      fragments.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    )
  }
  push('message_delta', { delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' }, usage: { output_tokens: 20 } })
  push('message_stop', {})
  return frames
}

function openaiFrames({ text = [], calls = [] }: Answer): string[] {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'm', system_fingerprint: 'fp' }
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null })}\n\n`
  const frames = [chunk({ role: 'assistant', content: text.length > 0 ? '' : null })]
  for (const content of text) frames.push(chunk({ content }))
  calls.forEach(({ id, name, fragments }, index) => {
    frames.push(chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }))
    for (const piece of fragments) frames.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
  })
  frames.push(chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'))
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
  frames.push(`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`, 'data: [DONE]\n\n')
  return frames
}
