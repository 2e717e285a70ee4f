import { describe, expect, it } from 'vitest'
import { Agent, type AgentOptions, type Model } from '../../src/index.ts'
import { type AgentContext, agentLoop, type LoopConfig } from '../../src/loop.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { play, tool } from '../support/play.ts'

const oddities: [string, unknown][] = [
  ['undefined', undefined],
  ['a string', 'plain'],
  ['a symbol', Symbol('sign')],
  ['an object without a prototype', Object.create(null)],
  ['an error whose message is an object', Object.assign(new Error('x'), { message: { a: 1 } })],
  [
    'an error whose message throws',
    Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('getter')
      },
    }),
  ],
]

/** Runs with a part that throws `thrown`; checks what holds for every run. */
async function broken(script: Script, options: Partial<AgentOptions>) {
  const played = await play(script, options)
  expect(grammarFaults(played.events)).toEqual([])
  expect(unansweredCalls(played.agent.messages)).toEqual([])
  expect(JSON.parse(JSON.stringify(played.events))).toEqual(played.events)
  return played.result
}

describe.each(oddities)('%s thrown', (_, thrown) => {
  const fail = () => {
    throw thrown
  }

  it('sends the model an error if a tool throws it', async () => {
    const result = await broken([{ toolCalls: [{ name: 't', arguments: {} }] }, { text: 'ok' }], { tools: [tool('t', fail)] })
    expect(result).toMatchObject({ status: 'completed', text: 'ok' })
    expect(result.messages[2]).toMatchObject({ role: 'toolResult', isError: true, content: [{ type: 'text', text: expect.any(String) }] })
  })

  it('ends the run with an error from journal, provider or transformContext', async () => {
    const model = scripted([])
    const provider: Model['provider'] = { api: 'scripted', encode: (request) => model.provider.encode(request), stream: fail }
    expect((await broken([], { model: { ...model, provider } })).error).toEqual({ code: 'other', message: expect.any(String) })
    expect((await broken([], { transformContext: fail })).error).toEqual({ code: 'other', message: expect.any(String) })
    expect((await broken([], { journal: { append: fail } })).error?.code).toBe('journal')
  })

  it('does not end the run if the logger or event sink throws it', async () => {
    const cost = { inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
    const limits = { maxTurns: 9, maxTotalTokens: 99, maxDurationMs: 9e9, maxCost: 1 }
    const config: LoopConfig = { model: scripted([{ text: 'ok' }], { config: { cost } }), logger: { warn: fail }, limits }
    const context: AgentContext = { systemPrompt: '', messages: [], tools: [] }
    expect((await agentLoop('go', context, config, { emit: fail, signal: new AbortController().signal })).text).toBe('ok')
  })
})

describe('an async event sink or logger', () => {
  it('causes no unhandled rejection when it rejects', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    const warnings: string[] = []
    const emit = async () => {
      throw new Error('connection closed')
    }
    const warn = async (event: string) => {
      warnings.push(event)
      throw new Error('log is full')
    }
    const agent = new Agent({ model: scripted([{ text: 'ok' }]), logger: { warn } })
    agent.subscribe(emit)
    await agent.prompt('go').result
    const context: AgentContext = { systemPrompt: '', messages: [], tools: [] }
    const config: LoopConfig = { model: scripted([{ text: 'ok' }]), logger: { warn } }
    expect((await agentLoop('go', context, config, { emit, signal: new AbortController().signal })).text).toBe('ok')
    // Node reports rejections after the microtasks of a task.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
    expect(new Set(warnings)).toEqual(new Set(['listenerFailed', 'emitFailed']))
  })
})
