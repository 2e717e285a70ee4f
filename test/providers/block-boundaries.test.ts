import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ToolCallContent } from '../../src/contract/message/content.ts'
import { type AssistantMessage, textOf } from '../../src/contract/message/message.ts'
import { Agent, defineTool, type Model } from '../../src/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { StreamProvider } from '../../src/types/model/provider.ts'
import { runs } from '../support/runs.ts'
import { streamed as anthropicCall } from './anthropic/call.ts'
import { answering as awsAnswering, streamed as bedrockCall, frame } from './bedrock/call.ts'
import { answering, sse, utf8 } from './bytes.ts'
import { answerBy, authorOf, type Outcome, outcomeOf, plainRequest } from './model-call.ts'

/** What a stream says of a call: it opens, its arguments come in pieces, it ends. */
type Step = { call: number; does: 'open' | 'end' } | { call: number; does: 'say'; piece: string }

interface Protocol {
  /** The answer that consists of these steps, with the terminal event that says that it is whole. */
  play: (steps: readonly Step[]) => Promise<Outcome>
}

const data = (events: readonly unknown[]) => [utf8(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))]
const idOf = (call: number) => `call_${call}`

const protocols: Record<string, Protocol> = {
  Anthropic: {
    play: (steps) =>
      anthropicCall(
        answering(
          data([
            { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 1 } } },
            ...steps.map((step) => {
              const index = step.call
              if (step.does === 'end') return { type: 'content_block_stop', index }
              if (step.does === 'say')
                return { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: step.piece } }
              return { type: 'content_block_start', index, content_block: { type: 'tool_use', id: idOf(index), name: 'read', input: {} } }
            }),
            { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
            { type: 'message_stop' },
          ]),
        ),
      ),
  },
  Bedrock: {
    play: (steps) => {
      const events = steps.map((step) => {
        const contentBlockIndex = step.call
        if (step.does === 'end') return frame('contentBlockStop', { contentBlockIndex })
        if (step.does === 'say') return frame('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: step.piece } } })
        return frame('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: idOf(step.call), name: 'read' } } })
      })
      const first = frame('messageStart', { role: 'assistant' })
      return bedrockCall(
        awsAnswering([first, ...events, frame('messageStop', { stopReason: 'tool_use' }), frame('metadata', { usage: {} })]),
      )
    },
  },
  'Chat Completions': {
    // It has no end of a call.
    play: (steps) => {
      const deltas = steps.flatMap((step) => {
        if (step.does === 'end') return []
        const call = { index: step.call, ...(step.does === 'open' && { id: idOf(step.call), type: 'function' }) }
        const said = step.does === 'say' ? { arguments: step.piece } : { name: 'read', arguments: '' }
        return [{ choices: [{ index: 0, delta: { tool_calls: [{ ...call, function: said }] } }] }]
      })
      const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], usage: { prompt_tokens: 1, completion_tokens: 1 } }
      const { config, provider } = openai('m', { apiKey: 'sk-canary-0123456789', fetch: answering([sse(...deltas, end, '[DONE]')]) })
      return outcomeOf(provider, plainRequest(config))
    },
  },
}

/** A call as its service means it. Its arguments come whole, or break off. */
interface Meant {
  json: string
  pieces: string[]
  isCut: boolean
  /** How often it is said that it ends: services forget it, and proxies repeat it. */
  ends: number
  opens: number
}

const meant: fc.Arbitrary<Meant> = fc
  .record({
    text: fc.string({ maxLength: 12 }),
    cuts: fc.array(fc.nat(40), { maxLength: 4 }),
    isCut: fc.boolean(),
    ends: fc.integer({ min: 0, max: 2 }),
    opens: fc.integer({ min: 1, max: 2 }),
  })
  .map(({ text, cuts, isCut, ends, opens }) => {
    const json = JSON.stringify({ text })
    const whole = isCut ? json.slice(0, -1) : json
    const at = [0, ...cuts.map((cut) => cut % whole.length).sort((a, b) => a - b), whole.length]
    const pieces = at.slice(1).map((end, index) => whole.slice(at[index], end))
    return { json, pieces: pieces.filter((piece) => piece !== ''), isCut, ends, opens }
  })

/** The calls, their steps mixed: those of one call stay in order, but for its ends, which come at any time after its last piece. */
const mixed = fc.array(meant, { minLength: 1, maxLength: 4 }).chain((calls) => {
  const sequences = calls.map(({ pieces, opens, ends }, call): Step[] => [
    ...Array.from({ length: opens }, (): Step => ({ call, does: 'open' })),
    ...pieces.map((piece): Step => ({ call, does: 'say', piece })),
    ...Array.from({ length: ends }, (): Step => ({ call, does: 'end' })),
  ])
  const total = sequences.reduce((sum, { length }) => sum + length, 0)
  return fc.array(fc.nat(), { minLength: total, maxLength: total }).map((choices) => {
    const left = sequences.map((sequence) => [...sequence])
    const steps = choices.flatMap((choice) => {
      const open = left.filter(({ length }) => length > 0)
      const step = open[choice % open.length]?.shift()
      return step === undefined ? [] : [step]
    })
    return { calls, steps }
  })
})

const read = defineTool({ name: 'read', description: 'Reads.', parameters: { type: 'object' }, execute: () => 'ok' })

/** A model that gives `first`, and then what `model` says. */
function replaying(first: AssistantMessage, model: Model): Model {
  let isGiven = false
  const stream: StreamProvider['stream'] = (request, emit, signal) => {
    if (isGiven) return model.provider.stream(request, emit, signal)
    isGiven = true
    emit({ type: 'start', message: first })
    return Promise.resolve(first)
  }
  return { ...model, provider: { api: model.provider.api, encode: (request) => model.provider.encode(request), stream } }
}

const callsOf = ({ message }: Outcome): ToolCallContent[] => (message?.content ?? []).filter((block) => block.type === 'toolCall')

describe.each(Object.entries(protocols))('calls of %s with mixed, repeated or unfinished blocks', (_name, { play }) => {
  it('keeps complete calls complete, marks truncated ones and invents none', async () => {
    await fc.assert(
      fc.asyncProperty(mixed, async ({ calls, steps }) => {
        const outcome = await play(steps)
        expect(outcome.error).toBeUndefined()
        const found = new Map(callsOf(outcome).map((block) => [block.id, block]))
        expect([...found.keys()].sort()).toEqual(calls.map((_, call) => idOf(call)))
        expect(callsOf(outcome)).toHaveLength(calls.length)
        for (const [call, { json, isCut }] of calls.entries()) {
          const block = found.get(idOf(call))
          if (isCut) expect(block?.invalidArguments).toBe(json.slice(0, -1))
          else expect([block?.arguments, block?.invalidArguments]).toEqual([JSON.parse(json), undefined])
        }
      }),
      { numRuns: runs(200, 5000) },
    )
  })
})

describe.each(Object.entries(protocols))('a truncated call of %s before a terminal event', (_name, { play }) => {
  it('reports the call to the model as truncated, not as invalid JSON', async () => {
    await fc.assert(
      fc.asyncProperty(mixed, async ({ steps }) => {
        const answer = callsOf(await play(steps))
        const model = scripted([{ text: 'Done.' }])
        const message = answerBy(authorOf(model.config), answer, { stopReason: 'toolUse' })
        const agent = new Agent({ model: replaying(message, model), tools: [read], logger: false })
        const { messages } = await agent.prompt('Go.').result
        for (const [index, told] of messages.filter(({ role }) => role === 'toolResult').entries()) {
          const isCut = answer[index]?.invalidArguments !== undefined
          const text = told.role === 'toolResult' ? textOf(told.content) : ''
          expect(text).not.toMatch(/not (valid|a) JSON/i)
          expect(isCut ? /cut off/.test(text) : text === 'ok').toBe(true)
        }
      }),
      { numRuns: runs(30, 500) },
    )
  })
})
