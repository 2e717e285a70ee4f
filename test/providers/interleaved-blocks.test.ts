import { describe, expect, it } from 'vitest'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { streamed as anthropicCall } from './anthropic/call.ts'
import { answering as awsAnswering, streamed as bedrockCall, frame } from './bedrock/call.ts'
import { answering, sse } from './bytes.ts'
import { type Outcome, outcomeOf, plainRequest } from './model-call.ts'

/** What a stream says of a block: it opens, more of it comes, it ends. */
type Step = [does: 'open' | 'say' | 'end', block: number, text?: string]
type Kind = 'thinking' | 'text' | 'call'

const data = (events: readonly unknown[]) => [sse(...events)]

/** How each protocol with numbered blocks says these steps. Block `index` is of the kind `kinds[index]`. */
const protocols: Record<string, (kinds: readonly Kind[], steps: readonly Step[]) => Promise<Outcome>> = {
  Anthropic: (kinds, steps) =>
    anthropicCall(
      answering(
        data([
          { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 1 } } },
          ...steps.map(([does, index, text]) => {
            const kind = kinds[index]
            if (does === 'end') return { type: 'content_block_stop', index }
            if (does === 'open') {
              const call = { type: 'tool_use', id: `c${index}`, name: 'read', input: {} }
              return { type: 'content_block_start', index, content_block: kind === 'call' ? call : { type: kind, [String(kind)]: '' } }
            }
            const delta =
              kind === 'call' ? { type: 'input_json_delta', partial_json: text } : { type: `${kind}_delta`, [String(kind)]: text }
            return { type: 'content_block_delta', index, delta }
          }),
          { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
          { type: 'message_stop' },
        ]),
      ),
    ),
  Bedrock: (kinds, steps) => {
    const events = steps.flatMap(([does, contentBlockIndex, text = '']) => {
      const kind = kinds[contentBlockIndex]
      if (does === 'end') return [frame('contentBlockStop', { contentBlockIndex })]
      if (does === 'open' && kind === 'call')
        return [frame('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: `c${contentBlockIndex}`, name: 'read' } } })]
      const delta = kind === 'call' ? { toolUse: { input: text } } : kind === 'thinking' ? { reasoningContent: { text } } : { text }
      return [frame('contentBlockDelta', { contentBlockIndex, delta })]
    })
    const first = frame('messageStart', { role: 'assistant' })
    return bedrockCall(awsAnswering([first, ...events, frame('messageStop', { stopReason: 'end_turn' }), frame('metadata', { usage: {} })]))
  },
  Responses: (kinds, steps) => {
    const said: string[] = []
    const itemOf = (index: number) => {
      const [kind, id] = [kinds[index], `i${index}`]
      const content = said[index] === undefined ? [] : [{ type: 'output_text', text: said[index] }]
      if (kind === 'text') return { type: 'message', id, content }
      const summary = said[index] === undefined ? [] : [{ type: 'summary_text', text: said[index] }]
      if (kind === 'thinking') return { type: 'reasoning', id, summary }
      return { type: 'function_call', id, call_id: `c${index}`, name: 'read', arguments: said[index] ?? '' }
    }
    const types = { text: 'output_text', thinking: 'reasoning_summary_text', call: 'function_call_arguments' }
    const events = steps.map(([does, output_index, delta = '']) => {
      if (does === 'say') said[output_index] = (said[output_index] ?? '') + delta
      if (does === 'say')
        return { type: `response.${types[kinds[output_index] ?? 'text']}.delta`, output_index, item_id: `i${output_index}`, delta }
      return { type: `response.output_item.${does === 'open' ? 'added' : 'done'}`, output_index, item: itemOf(output_index) }
    })
    const end = { type: 'response.completed', response: { id: 'r', status: 'completed', usage: { input_tokens: 1, output_tokens: 1 } } }
    const { config, provider } = openaiResponses('gpt-5.1', { apiKey: 'k', fetch: answering(data([...events, end])) })
    return outcomeOf(provider, plainRequest(config))
  },
}

const shownBy = ({ message, error }: Outcome) => {
  if (message === undefined) throw error
  return message.content.map((block) => {
    if (block.type === 'text') return ['text', block.text]
    return block.type === 'thinking' ? ['thinking', block.thinking] : [block.type === 'toolCall' ? 'call' : block.type]
  })
}

describe.each(Object.entries(protocols))('interleaved blocks of %s', (_name, play) => {
  it('keeps blocks in start order, including thinking', async () => {
    const kinds = ['thinking', 'text', 'call'] as const
    const opened: Step[] = kinds.map((_, at) => ['open', at])
    const ended: Step[] = kinds.map((_, at) => ['end', at])
    const steps: Step[] = [...opened, ['say', 1, 'A'], ['say', 2, '{}'], ['say', 0, 'Hm'], ['say', 1, 'B'], ['say', 0, '.'], ...ended]
    expect(shownBy(await play(kinds, steps))).toEqual([['thinking', 'Hm.'], ['text', 'AB'], ['call']])
  })

  it('drops a block that ends without content', async () => {
    const steps: Step[] = [
      ['open', 0],
      ['end', 0],
      ['open', 1],
      ['say', 1, 'A'],
      ['end', 1],
    ]
    const [first, ...others] = shownBy(await play(['text', 'text'], steps))
    expect([first, others]).toEqual([['text', 'A'], []])
  })

  it('keeps the block index in every event, also after an empty block', async () => {
    const steps: Step[] = [
      ['open', 0],
      ['open', 1],
      ['say', 1, 'A'],
      ['end', 1],
      ['end', 0],
    ]
    const { message, events } = await play(['thinking', 'text'], steps)
    const at = events.flatMap((event) => (event.type === 'text' ? [event.contentIndex] : []))
    expect(at.map((index) => message?.content[index])).toEqual([expect.objectContaining({ type: 'text', text: 'A' })])
  })
})
