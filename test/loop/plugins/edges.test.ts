import { describe, expect, it } from 'vitest'
import { piiFilter } from '../../../examples/recipes/plugins/pii-filter.ts'
import { Agent, type AgentEvent, type Logger } from '../../../src/index.ts'
import { definePlugin, turnCount } from '../../../src/loop.ts'
import { openai } from '../../../src/providers/openai.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { PluginStages, ResponseDelta } from '../../../src/types/run/plugin.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { ofType, play, playOn, tool } from '../../support/play.ts'

const work = { toolCalls: [{ name: 'work', arguments: {} }] }

function plugin(stages: PluginStages, name = 'mine') {
  return definePlugin({ name, begin: () => stages })
}

/** A logger, and the names of what it was told. */
function noting(): { logger: Logger; lines: string[] } {
  const lines: string[] = []
  const note = (event: string) => void lines.push(event)
  return { logger: { warn: note }, lines }
}

describe('plugin stages', () => {
  it('accepts stages defined as methods of one object', async () => {
    class Stages implements PluginStages {
      readonly seen: string[] = []
      beforeTurn() {
        this.seen.push('beforeTurn')
      }
      delta({ text }: ResponseDelta) {
        this.seen.push('delta')
        return text
      }
      response() {
        this.seen.push('response')
      }
      afterTurn() {
        this.seen.push('afterTurn')
      }
      ending() {
        this.seen.push('ending')
      }
    }
    const stages = new Stages()
    const { result } = await play([{ text: 'ok' }], { plugins: [plugin(stages)], logger: false })
    expect(result.status).toBe('completed')
    expect([...new Set(stages.seen)]).toEqual(['beforeTurn', 'delta', 'response', 'afterTurn', 'ending'])
  })

  it('ends the run before the request if begin returns a promise', async () => {
    const late = definePlugin({ name: 'late', begin: (async () => ({ delta: () => '' })) as never })
    const { result, model } = await play([{ text: 'secret' }], { plugins: [late], logger: false })
    expect(result.error?.message).toContain('The begin stage of plugin "late" failed')
    expect(model.provider.requests).toHaveLength(0)
  })

  it('calls ending and close of plugins that began before one failed', async () => {
    const told: string[] = []
    const first = plugin({ ending: ({ status }) => void told.push(status), close: () => void told.push('closed') }, 'first')
    const second = definePlugin({
      name: 'second',
      begin: () => {
        throw new Error('no')
      },
    })
    const { result, events } = await play([{ text: 'never' }], { plugins: [first, second], logger: false })
    expect(result).toMatchObject({ status: 'error', error: { code: 'hookFailed' } })
    expect(told).toEqual(['error', 'closed'])
    expect(grammarFaults(events)).toEqual([])
  })
})

describe('a plugin with a delta filter', () => {
  it('emits no partial word when the run is aborted', async () => {
    const model = scripted([{ text: 'Write to ann@example.org today' }], { chunkSize: 5 })
    const agent = new Agent({ model, plugins: [piiFilter], logger: false })
    const run = agent.prompt('go')
    const events: AgentEvent[] = []
    for await (const event of run) {
      events.push(event)
      if (event.type === 'messageUpdate') run.abort()
    }
    expect((await run.result).status).toBe('aborted')
    expect(JSON.stringify([events, agent.messages])).not.toContain('@')
    expect(JSON.stringify(agent.messages)).toContain('Write to')
  })

  it('receives isCut for a response that was cut off', async () => {
    const cut: boolean[] = []
    const watching = plugin({
      delta: ({ text, isLast, isCut }) => {
        if (isLast) cut.push(isCut)
        return text
      },
    })
    const fail = { code: 'network' as const, message: 'gone', afterText: true }
    await play([{ text: 'half', fail }, { text: 'whole' }], { plugins: [watching], logger: false })
    await play([{ text: 'too lo', stopReason: 'length' }], { plugins: [watching], logger: false })
    expect(cut).toEqual([true, false, true])
  })

  it('replaces the text of a refusal and of its usage report', async () => {
    const chunk = (delta: object, more: object = {}) =>
      `data: ${JSON.stringify({ id: 'r', object: 'chat.completion.chunk', model: 'gpt-4o', choices: [{ index: 0, delta, ...more }] })}\n\n`
    const logprobs = { content: null, refusal: [{ token: 'ann@example.org', logprob: -0.1, top_logprobs: [] }] }
    const body = [
      chunk({ role: 'assistant', refusal: 'ann@example.org ' }, { logprobs }),
      chunk({ refusal: 'is private.' }),
      chunk({}, { finish_reason: 'stop' }),
      'data: [DONE]\n\n',
    ].join('')
    const fetched = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    const model = openai('gpt-4o', { apiKey: 'sk-test', fetch: fetched })
    const { agent, events, result } = await playOn(model, { plugins: [piiFilter], logger: false })
    expect(result.messages.at(-1)).toMatchObject({ refusal: '[address] is private.' })
    expect(result.text).toBe('[address] is private.')
    const shown = ofType(events, 'messageUpdate').map(({ delta }) => (delta.type === 'text' ? delta.delta : ''))
    expect(shown.join('')).toBe('[address] is private.')
    expect(JSON.stringify([events, agent.messages])).not.toContain('@')
  })
})

describe('the call stage of a plugin', () => {
  it('runs no tool once it has returned the result', async () => {
    let runs = 0
    let later: (() => Promise<unknown>) | undefined
    const cached = plugin({
      call: (_, run) => {
        later = run
        return { content: [{ type: 'text', text: 'cached' }] }
      },
    })
    const counted = tool('work', () => {
      runs += 1
      return 'done'
    })
    const { result } = await play([work, { text: 'ok' }], { tools: [counted], plugins: [cached], logger: false })
    expect(result.status).toBe('completed')
    await expect(later?.()).rejects.toThrow('The call has ended')
    expect(runs).toBe(0)
  })
})

describe('a call stage that does not await its tool', () => {
  it('causes no unhandled rejection when the tool fails', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    try {
      const hasty = plugin({
        call: (_, run) => {
          void run()
          throw new Error('hasty')
        },
      })
      const failing = tool('work', async () => {
        throw new Error('late')
      })
      const { result } = await play([work, { text: 'ok' }], { tools: [failing], plugins: [hasty], logger: false })
      expect(result.status).toBe('completed')
      // Node tells of unhandled rejections when the microtasks are done.
      await new Promise<void>((resolve) => setImmediate(resolve))
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', note)
    }
  })
})

describe('a plugin that keeps notes', () => {
  it.each(['ending', 'close'] as const)('logs notes kept in the %s stage as lost', async (stage) => {
    const { logger, lines } = noting()
    const keeping = definePlugin({ name: 'mine', begin: (run) => ({ [stage]: () => run.keep('too late') }) })
    await play([{ text: 'ok' }], { plugins: [keeping], logger })
    expect(lines).toEqual(['notesLost'])
  })

  it('logs notes of a rejected turn as lost', async () => {
    const { logger, lines } = noting()
    const keeping = definePlugin({
      name: 'mine',
      begin: (run) => ({
        beforeTurn: () => {
          run.keep('lost')
          return false
        },
      }),
    })
    const { result } = await play([{ text: 'never' }], { plugins: [keeping], logger })
    expect(result.status).toBe('rejected')
    expect(lines).toEqual(['notesLost'])
  })
})

describe('the idle stage of a plugin', () => {
  it('filters its messages as input but does not return them', async () => {
    const more = plugin({ idle: () => 'more' })
    const { result } = await play([{ text: 'ok' }], {
      plugins: [more],
      inputFilters: [(said) => (said === 'more' ? { type: 'reject', reason: 'no more' } : { type: 'pass' })],
      logger: false,
    })
    expect(result).toMatchObject({ status: 'rejected', rejection: 'no more', returned: [] })
  })

  it('ends the run despite idle input when a stop condition applies', async () => {
    const { result, model } = await play(() => ({ text: 'ok' }), {
      plugins: [plugin({ idle: () => 'more' })],
      stopWhen: turnCount(2),
      limits: { maxTurns: 5 },
    })
    expect(result).toMatchObject({ status: 'completed', endedBy: { type: 'condition', name: 'turnCount(2)' } })
    expect(model.provider.requests).toHaveLength(2)
  })
})
