import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { runs } from '../../support/runs.ts'
import { answering, utf8 } from '../bytes.ts'
import { called, inputFor, user } from './call.ts'

type Item = Record<string, unknown>

const words = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' })

/** Items that the service ended, of kinds that are known and not. Each has a mark that is found again wherever it went. */
const item = fc.oneof(
  words.map((text): Item => ({ type: 'message', content: [{ type: 'output_text', text: `m${text}`, annotations: [] }] })),
  words.map(
    (of): Item => ({
      type: 'message',
      content: [
        { type: 'output_text', text: 'm', annotations: [{ type: 'smell', of }] },
        { type: 'output_smell', of },
      ],
    }),
  ),
  words.map((query): Item => ({ type: 'web_search_call', action: { type: 'search', query } })),
  words.map((code): Item => ({ type: 'code_interpreter_call', code, container_id: 'cntr_1', outputs: [{ type: 'logs', logs: code }] })),
  words.map((name): Item => ({ type: 'mcp_call', server_label: 's', name, arguments: '{}', output: name, error: null })),
  words.map((name): Item => ({ type: 'custom_tool_call', name, input: '', call_id: 'x' })),
  words.map((label): Item => ({ type: 'mcp_list_tools', server_label: label, tools: [] })),
  words.map((kind): Item => ({ type: `unknown ${kind}`, of: kind })),
  fc.constant<Item>({ type: 'image_generation_call', result: 'iVBORw0KGgo=' }),
  fc.constant<Item>({ type: 'shell_call', call_id: 'sh', action: { commands: ['ls'] }, environment: { type: 'container_reference' } }),
  fc.constant<Item>({ type: 'shell_call_output', call_id: 'sh', output: [] }),
  fc.constant<Item>({ type: 'tool_search_output', execution: 'server', call_id: null, tools: [] }),
  fc.constant<Item>({ type: 'compaction', encrypted_content: 'ZW5j' }),
)

const idOf = (type: unknown, at: number) => (type === 'message' ? `msg_${at}` : `it_${at}`)

const eventsOf = (items: readonly Item[]): Item[] => [
  ...items.flatMap((each, output_index) => [
    { type: 'response.output_item.added', output_index, item: { id: each.id, type: each.type, status: 'in_progress' } },
    { type: 'response.output_item.done', output_index, item: each },
  ]),
  { type: 'response.completed', response: { status: 'completed', output: items } },
]

it('keeps every finished item, sends it back and reports unknown ones', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 6 }), async (made) => {
      const items = made.map(
        (each, at): Item => ({
          id: idOf(each.type, at),
          role: each.type === 'message' ? 'assistant' : undefined,
          status: 'completed',
          ...each,
        }),
      )
      const plain: Item[] = JSON.parse(JSON.stringify(items))
      const fetch = answering([
        utf8(
          eventsOf(plain)
            .map((event) => `data: ${JSON.stringify(event)}\n\n`)
            .join(''),
        ),
      ])
      const { message, events } = await called(openaiResponses('gpt-test', { fetch }))
      if (message === undefined) throw new Error('no answer')
      const kept = JSON.stringify(message.content)
      const warned = events.flatMap((event) => (event.type === 'warning' ? [event.warning] : [])).join('\n')
      for (const { id, type } of plain) {
        expect(kept).toContain(JSON.stringify(id))
        if (String(type).startsWith('unknown')) expect(warned).toContain(String(type))
      }
      const open = plain.filter(
        ({ type }, at) => type === 'shell_call' && !plain.some((each, later) => later > at && each.type === 'shell_call_output'),
      )
      const input = await inputFor([user('a'), JSON.parse(JSON.stringify(message)), user('b')])
      const ids = input.flatMap((each) => (typeof each.id === 'string' ? [each.id] : []))
      if (open.length === 0 && plain.filter(({ type }) => type === 'shell_call').length < 2) expect(ids).toEqual(plain.map(({ id }) => id))
    }),
    { numRuns: runs(200, 2000) },
  )
})
