import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/json.ts'
import type { Content, ProviderState } from '../../../src/contract/message/content.ts'
import type { Message } from '../../../src/contract/message/message.ts'
import { azure } from '../../../src/providers/azure/index.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import type { Model } from '../../../src/types/model/model.ts'
import { runs } from '../../support/runs.ts'
import { anyArguments } from '../arbitraries.ts'
import { answerBy, authorOf, issuedIds } from '../model-call.ts'
import { bodyFor, inputFor } from './call.ts'
import { type InputItem, responsesFaults } from './grammar.ts'

const models: Model[] = [
  openaiResponses('gpt-6-sol'),
  openaiResponses('gpt-3.5-turbo'),
  openaiResponses('grok-4.3', { provider: 'xai', baseUrl: 'https://api.x.ai/v1' }),
  azure('prod', { resource: 'r' }),
]

const anyText = fc.oneof(fc.constantFrom('', ' ', 'hello', '\ud800', 'a\udfff\\ud83d b', '😀'), fc.string({ unit: 'binary', maxLength: 8 }))
const anyId = fc.constantFrom('a', 'b', 'call:1', '', 'with space', 'é', 'x'.repeat(80), `${'x'.repeat(80)}y`, 'functions.f:0')
const image: Content = { type: 'image', data: 'AA==', mimeType: 'image/png' }

/** Answers as the service gives them: each reasoning item leads to a message or a call. What it led to is known by its number. */
interface Step {
  reasons: boolean
  isEncrypted: boolean
  kind: 'text' | 'toolCall'
  text: string
  id: string
  args: JsonObject
  bad: string | undefined
}

const step: fc.Arbitrary<Step> = fc.record({
  reasons: fc.boolean(),
  isEncrypted: fc.integer({ min: 0, max: 4 }).map((value) => value > 0),
  kind: fc.constantFrom('text', 'toolCall'),
  text: anyText,
  id: anyId,
  args: anyArguments,
  bad: fc.option(fc.string(), { nil: undefined }),
})

const damage = fc.array(fc.record({ at: fc.nat(9), how: fc.constantFrom('drop', 'foreign', 'bare', 'swap', 'image') }), { maxLength: 2 })

const message = fc.oneof(
  fc.record({ role: fc.constant('user' as const), texts: fc.array(anyText, { maxLength: 2 }), hasImage: fc.boolean() }),
  fc.record({
    role: fc.constant('assistant' as const),
    steps: fc.array(step, { maxLength: 3 }),
    damage,
    author: fc.constantFrom(...models),
    isRepeated: fc.integer({ min: 0, max: 5 }).map((value) => value === 0),
    stopReason: fc.constantFrom('stop' as const, 'toolUse' as const, 'length' as const, 'error' as const, 'aborted' as const),
  }),
  fc.record({ role: fc.constant('toolResult' as const), id: anyId, texts: fc.array(anyText, { maxLength: 2 }), hasImage: fc.boolean() }),
)

const plan = fc.array(message, { maxLength: 9 })
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never

/** The history of a plan, and what each of its reasoning items led to. */
function historyOf(parts: Plan): { messages: Message[]; ledTo: Map<string, string> } {
  const ledTo = new Map<string, string>()
  let next = 0
  const shown = ({ texts, hasImage }: { texts: string[]; hasImage: boolean }): Content[] => [
    ...texts.map((text) => ({ type: 'text' as const, text })),
    ...(hasImage ? [image] : []),
  ]
  const messages = parts.flatMap((part): Message[] => {
    if (part.role === 'user') return [{ role: 'user', content: shown(part), timestamp: 0 }]
    if (part.role === 'toolResult')
      return [{ role: 'toolResult', toolCallId: part.id, toolName: 'f', content: shown(part), isError: false, timestamp: 0 }]
    const { config } = part.author
    const state = (payload: JsonObject): ProviderState => ({ api: config.api, model: config.id, payload })
    const content = part.steps.flatMap((each): Content[] => {
      const number = next++
      const id = `${each.kind === 'text' ? 'msg' : 'fc'}_${number}`
      const reasoning = `rs_${number}`
      const item: JsonObject = { type: 'reasoning', id: reasoning, summary: [], ...(each.isEncrypted ? { encrypted_content: 'x' } : {}) }
      if (each.reasons) ledTo.set(reasoning, id)
      const providerState = state(each.reasons ? { id, after: reasoning } : { id })
      const made: Content =
        each.kind === 'text'
          ? { type: 'text', text: each.text, providerState }
          : { type: 'toolCall', id: each.id, name: each.text, arguments: each.bad === undefined ? each.args : {}, providerState }
      if (made.type === 'toolCall' && each.bad !== undefined) made.invalidArguments = each.bad
      return each.reasons ? [{ type: 'thinking', thinking: each.text, providerState: state({ item }) }, made] : [made]
    })
    for (const { at, how } of part.damage) spoil(content, at, how)
    const { stopReason } = part
    const answer = answerBy(authorOf(config), content, { stopReason })
    return part.isRepeated ? [answer, answer] : [answer]
  })
  return { messages, ledTo }
}

function spoil(content: Content[], at: number, how: string): void {
  const index = at % Math.max(1, content.length)
  const block = content[index]
  if (block === undefined || block.type === 'image') return
  if (how === 'drop') content.splice(index, 1)
  if (how === 'image') content.splice(index, 0, image)
  if (how === 'foreign') content[index] = { ...block, providerState: { api: 'anthropicMessages', model: 'x', payload: { id: 'msg_1' } } }
  if (how === 'bare') {
    const { providerState: _, ...bare } = block
    content[index] = bare
  }
  if (how === 'swap' && index > 0) content.splice(index - 1, 0, ...content.splice(index, 1))
}

describe('any history as a Responses request', () => {
  it.each(models.map((model) => [model.config.id, model] as const))('encodes any history to a valid request: %s', async (_id, model) => {
    await fc.assert(
      fc.asyncProperty(plan, fc.constantFrom('', 'Be brief.'), async (parts, systemPrompt) => {
        const { messages, ledTo } = historyOf(parts)
        const before = JSON.stringify(messages)
        const body = await bodyFor(model, { messages, systemPrompt })
        // Checked by the grammar.
        expect(responsesFaults(body.input as InputItem[], ledTo, issuedIds(model.config, messages))).toEqual([])
        // The same again: what is remembered is what was made.
        expect(await bodyFor(model, { messages, systemPrompt })).toEqual(body)
        expect(await bodyFor(model, { messages: structuredClone(messages), systemPrompt })).toEqual(body)
        expect(JSON.stringify(messages)).toBe(before)
      }),
      { numRuns: runs(150, 5000) },
    )
  })

  it('contains reasoning only of complete responses of the same model', async () => {
    const model = openaiResponses('gpt-6-sol')
    await fc.assert(
      fc.asyncProperty(plan, async (parts) => {
        const whole = parts.map((part) => (part.role === 'assistant' ? { ...part, damage: [], isRepeated: false } : part))
        const { messages } = historyOf(whole)
        const expected = messages.flatMap((message) => {
          if (message.role !== 'assistant' || message.model !== 'gpt-6-sol') return []
          if (message.stopReason === 'error' || message.stopReason === 'aborted') return []
          const items = message.content.flatMap((block) => (block.type === 'thinking' ? [block.providerState?.payload.item] : []))
          return items.some((item) => !JSON.stringify(item).includes('encrypted')) ? [] : items
        })
        expect((await inputFor(messages, model)).filter((item) => item.type === 'reasoning')).toEqual(expected)
      }),
      { numRuns: runs(150, 5000) },
    )
  })

  it('extends the previous request as the conversation grows, for prompt caching', async () => {
    const model = openaiResponses('gpt-6-sol')
    const parts: Plan = [{ role: 'user', texts: ['go'], hasImage: false }]
    let last = await inputFor(historyOf(parts).messages, model)
    for (let turn = 0; turn < 20; turn++) {
      const call: Step = { reasons: true, isEncrypted: true, kind: 'toolCall', text: 'f', id: `c${turn}`, args: { turn }, bad: undefined }
      parts.push({ role: 'assistant', steps: [call], damage: [], isRepeated: false, author: model, stopReason: 'toolUse' })
      parts.push({ role: 'toolResult', id: `c${turn}`, texts: ['ok'], hasImage: false })
      const next = await inputFor(historyOf(parts).messages, model)
      expect(next.slice(0, last.length)).toEqual(last)
      last = next
    }
  })
})
