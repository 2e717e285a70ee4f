import { describe, expect, it } from 'vitest'
import { emptyUsage } from '../../../src/context.ts'
import { Agent, type AgentEvent, type AssistantMessage, type Model, ProviderError } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { StreamProvider } from '../../../src/providers.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { fastRetry, gate, ofType, tool } from '../../support/play.ts'

/** An answer of one text block. */
function answer(text: string, more: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    role: 'assistant',
    content: [{ type: 'text', text }],
    stopReason: 'stop',
    model: 'm',
    provider: 'p',
    usage: emptyUsage(),
    timestamp: 1,
    ...more,
  }
}

function modelOf(stream: StreamProvider['stream']): Model {
  const { config, provider } = scripted([])
  return { config, provider: { api: 'scripted', encode: (request) => provider.encode(request), stream } }
}

/** Prompts once for each of `prompts`; checks what holds for every run. */
async function talk(stream: StreamProvider['stream'], prompts = ['go']) {
  const agent = new Agent({ model: modelOf(stream), retry: fastRetry, tools: [tool('t', () => 'ok')] })
  const results = []
  const events: AgentEvent[] = []
  for (const prompt of prompts) {
    const run = agent.prompt(prompt)
    const own: AgentEvent[] = []
    run.subscribe((event) => own.push(event))
    results.push(await run.result)
    expect(grammarFaults(own)).toEqual([])
    events.push(...own)
  }
  return { agent, events, results, last: results.at(-1) }
}

const ids = (agent: Agent) => agent.messages.map((message) => message.id)

describe('a custom provider', () => {
  it('resolves without emitting any event', async () => {
    const { events, last } = await talk(async () => answer('quiet'))
    expect(last?.text).toBe('quiet')
    expect(ofType(events, 'messageUpdate')).toEqual([])
  })

  it('returns the same message every turn, stored as separate entries', async () => {
    const same = answer('same')
    for (const first of [undefined, same, answer('')]) {
      const { agent } = await talk(
        async (_, emit) => {
          if (first !== undefined) emit({ type: 'start', message: first })
          return same
        },
        ['1', '2', '3'],
      )
      expect(new Set(ids(agent)).size).toBe(6)
      expect(agent.messages[1]).toMatchObject({ role: 'assistant', turnId: { loopId: expect.stringMatching(/\.1$/) } })
    }
  })

  it('returns a frozen message', async () => {
    const frozen = Object.freeze({ ...answer('ice'), content: Object.freeze([{ type: 'text', text: 'ice' }]) as never })
    const { results } = await talk(async () => frozen, ['1', '2'])
    expect(results.map((result) => result.text)).toEqual(['ice', 'ice'])
  })

  it('returns a different message than the one it emitted', async () => {
    const { agent, events, last } = await talk(async (_, emit) => {
      emit({ type: 'start', message: answer('') })
      emit({ type: 'text', contentIndex: 0, delta: 'dr' })
      return answer('final')
    })
    expect(last?.text).toBe('final')
    expect(ofType(events, 'messageEnd').at(-1)?.message).toBe(agent.messages[1])
  })

  it.each<[string, () => unknown]>([
    ['undefined', () => undefined],
    ['a string', () => 'hello'],
    ['a message without content', () => ({ role: 'assistant' })],
    ['a message without usage', () => ({ ...answer('x'), usage: undefined })],
  ])('ends the run with an error if it resolves with %s', async (_, resolved) => {
    const { last } = await talk(async () => resolved() as AssistantMessage)
    expect(last).toMatchObject({ status: 'error', error: { message: expect.any(String) } })
  })

  it.each([
    [{ errorMessage: 'stopped by a filter' }, 'stopped by a filter'],
    [{}, 'The model stopped with an error.'],
  ])('reports the error of a message with stopReason error: %o', async (more, message) => {
    const { events, last } = await talk(async () => answer('half', { stopReason: 'error', ...more }))
    expect(last).toMatchObject({ status: 'error', text: 'half', error: { code: 'api', message } })
    expect(ofType(events, 'agentEnd')).toMatchObject([{ error: { code: 'api', message } }])
  })

  it('ignores events emitted after the stream settled', async () => {
    let late = (): void => undefined
    const { agent, events } = await talk(async (_, emit) => {
      const message = answer('done')
      emit({ type: 'start', message })
      late = () => emit({ type: 'text', contentIndex: 0, delta: 'late' })
      return message
    })
    const before = [events.length, JSON.stringify(agent.messages)]
    late()
    expect([events.length, JSON.stringify(agent.messages)]).toEqual(before)
  })

  it('ignores message changes after an abort', async () => {
    const message = answer('begun')
    const { opened, open } = gate()
    const agent = new Agent({
      model: modelOf(async (_, emit) => {
        emit({ type: 'start', message })
        emit({ type: 'text', contentIndex: 0, delta: 'begun' })
        await opened
        message.content.push({ type: 'text', text: 'and more' })
        return message
      }),
    })
    const run = agent.prompt('go')
    run.subscribe((event) => event.type === 'messageUpdate' && run.abort())
    expect((await run.result).text).toBe('begun')
    open()
    await agent.prompt('next', { signal: AbortSignal.abort() }).result
    expect(agent.messages[1]).toMatchObject({ stopReason: 'aborted', content: [{ type: 'text', text: 'begun' }] })
  })

  it('ends the run as aborted if it rejects with code cancelled', async () => {
    const { last } = await talk(() => Promise.reject(new ProviderError('cancelled', 'the proxy went away')))
    expect(last?.status).toBe('aborted')
  })
})
