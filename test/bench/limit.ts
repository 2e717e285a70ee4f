import { createParser } from 'eventsource-parser'
import type { Task } from './task.ts'

/**
 * The limit: an SSE parser, `JSON.parse` and a bare loop over the same bytes. No events, no checks, no types; what an agent costs on top of
 * it is what is measured.
 */
export async function limit({ wire, fetch, execute, onText }: Task): Promise<void> {
  const messages: unknown[] = [{ role: 'user', content: 'go' }]
  for (;;) {
    const response = await fetch('http://bench.test', { method: 'POST', body: JSON.stringify({ model: 'm', stream: true, messages }) })
    const calls: { id: string; name: string; json: string }[] = []
    let text = ''
    const onEvent = ({ data }: { data: string }) => {
      if (data === '[DONE]') return
      const event = JSON.parse(data)
      const delta = wire === 'anthropic' ? event.delta : event.choices[0]?.delta
      const piece = delta?.text ?? delta?.content
      if (piece) {
        text += piece
        onText(piece)
      } else if (delta?.partial_json !== undefined) {
        const call = calls.at(-1)
        if (call) call.json += delta.partial_json
      } else if (event.content_block?.type === 'tool_use')
        calls.push({ id: event.content_block.id, name: event.content_block.name, json: '' })
      for (const { index, id, function: fn } of delta?.tool_calls ?? []) {
        if (id) calls[index] = { id, name: fn.name, json: '' }
        const call = calls[index]
        if (call) call.json += fn.arguments
      }
    }
    const parser = createParser({ onEvent })
    const reader = response.body?.getReader()
    if (reader === undefined) return
    const decoder = new TextDecoder()
    for (let step = await reader.read(); !step.done; step = await reader.read()) parser.feed(decoder.decode(step.value, { stream: true }))
    if (calls.length === 0) return
    const results = await Promise.all(calls.map(async ({ id, json }) => ({ id, output: await execute(JSON.parse(json)) })))
    messages.push({ role: 'assistant', text, calls }, { role: 'user', results })
  }
}
