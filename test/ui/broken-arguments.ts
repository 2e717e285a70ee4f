import type { Model } from '../../src/index.ts'
import { openaiCompatible } from '../../src/providers/openai.ts'

/** A model of Chat Completions that calls `name` with arguments that come in each of these `pieces`, then says that it is done. */
export function modelThatWrites(name: string, ...calls: readonly (readonly string[])[]): Model {
  const answers = [
    [...calls.flatMap((pieces, index) => callChunks(name, index, pieces)), { delta: {}, finish_reason: 'tool_calls' }],
    [{ delta: { content: 'Done.' }, finish_reason: 'stop' }],
  ]
  const send = async (): Promise<Response> => {
    const chunks = (answers.shift() ?? []).map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`)
    return new Response(`${chunks.join('')}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
  }
  return openaiCompatible('m', { baseUrl: 'http://127.0.0.1:9', fetch: send })
}

function callChunks(name: string, index: number, pieces: readonly string[]): object[] {
  const begins = { index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }
  return [begins, ...pieces.map((piece) => ({ index, function: { arguments: piece } }))].map((call) => ({ delta: { tool_calls: [call] } }))
}
