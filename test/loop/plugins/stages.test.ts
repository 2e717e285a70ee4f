import { describe, expect, it } from 'vitest'
import { Agent, memorySessionStore, resumeAgent, textOf } from '../../../src/index.ts'
import { definePlugin } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { Journal } from '../../../src/session.ts'
import type { PluginStages } from '../../../src/types/run/plugin.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { add, ofType, play, tool } from '../../support/play.ts'

const sum = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }

function plugin(stages: PluginStages, name = 'mine') {
  return definePlugin({ name, begin: () => stages })
}

describe('plugins', () => {
  it('runs stages in the documented order, and plugins in list order', async () => {
    const order: string[] = []
    const noting = (name: string) =>
      plugin(
        {
          beforeTurn: () => void order.push(`${name} beforeTurn`),
          request: () => void order.push(`${name} request`),
          delta: ({ text, isLast }) => {
            if (isLast) order.push(`${name} delta`)
            return text
          },
          response: () => void order.push(`${name} response`),
          call: async (_, run) => {
            order.push(`${name} call`)
            const result = await run()
            order.push(`${name} called`)
            return result
          },
          afterTurn: () => void order.push(`${name} afterTurn`),
          idle: () => void order.push(`${name} idle`),
          ending: ({ status }) => void order.push(`${name} ${status}`),
          close: () => void order.push(`${name} close`),
        },
        name,
      )
    const { events } = await play([sum, { text: 'Three.' }], { tools: [add], plugins: [noting('a'), noting('b')] })
    const pairs = (...stages: string[]) => stages.flatMap((stage) => [`a ${stage}`, `b ${stage}`])
    expect(order).toEqual([
      ...pairs('beforeTurn', 'request', 'response'),
      ...['a call', 'b call', 'b called', 'a called'],
      ...pairs('afterTurn', 'beforeTurn', 'request', 'delta', 'response', 'afterTurn', 'idle', 'completed', 'close'),
    ])
    expect(grammarFaults(events)).toEqual([])
  })

  it('changes the request but reuses unchanged message objects', async () => {
    const seen: number[] = []
    const shout = plugin({
      request: ({ systemPrompt, messages }) => {
        seen.push(messages.length)
        return { systemPrompt: `${systemPrompt}!`, messages: [...messages, { role: 'user', content: 'Be brief.' }] }
      },
    })
    const { model, agent } = await play([sum, { text: 'Three.' }], { tools: [add], systemPrompt: 'Add', plugins: [shout] })
    const [first, second] = model.provider.requests
    expect(first?.systemPrompt).toBe('Add!')
    expect(first?.messages.map(({ content }) => textOf(content))).toEqual(['go', 'Be brief.'])
    expect(second?.messages[0]).toBe(first?.messages[0])
    expect(seen).toEqual([1, 3])
    expect(agent.messages).toHaveLength(4)
  })

  it('rejects the run before its turn with a reason', async () => {
    const { result, model } = await play([{ text: 'never' }], {
      plugins: [plugin({ beforeTurn: () => ({ allow: false, reason: 'closed on Sundays' }) })],
    })
    expect(result).toMatchObject({
      status: 'rejected',
      rejection: 'The beforeTurn stage of plugin "mine" returned false: closed on Sundays',
    })
    expect(model.provider.requests).toHaveLength(0)
  })

  it('rejects a response with tool calls and requests another', async () => {
    let runs = 0
    const { result, model } = await play([{ text: 'Let me.', toolCalls: [{ name: 'work', arguments: {} }] }, { text: 'Sorry.' }], {
      tools: [
        tool('work', () => {
          runs += 1
          return 'done'
        }),
      ],
      plugins: [
        plugin({ response: ({ message }) => (message.stopReason === 'toolUse' ? { allow: false, reason: 'no tools' } : undefined) }),
      ],
    })
    expect(result).toMatchObject({ status: 'completed', text: 'Sorry.' })
    expect(runs).toBe(0)
    expect(JSON.stringify(model.provider.requests[1]?.messages)).toContain('Your answer was not shown: no tools')
  })

  it('replaces the response text before the afterAnswer hook', async () => {
    const judged: string[] = []
    const { result, agent } = await play([{ text: 'Damn.' }], {
      plugins: [plugin({ response: () => ({ text: 'Well.' }) })],
      hooks: { afterAnswer: ({ text }) => void judged.push(text) },
    })
    expect(result.text).toBe('Well.')
    expect(judged).toEqual(['Well.'])
    expect(JSON.stringify(agent.messages)).not.toContain('Damn')
  })

  it('retries a failed request at most three times', async () => {
    const fail = { fail: { code: 'api' as const, message: 'no' } }
    const retries: number[] = []
    const again = plugin({
      requestFailed: ({ retries: made }) => {
        retries.push(made)
        return { retry: true }
      },
    })
    const { result, events } = await play([fail, { text: 'Yes.' }], { plugins: [again] })
    expect(result).toMatchObject({ status: 'completed', text: 'Yes.' })
    expect(ofType(events, 'providerRetry')).toMatchObject([{ attempt: 1, maxRetries: 3, delayMs: 0 }])
    retries.length = 0
    const failed = await play(() => fail, { plugins: [again] })
    expect(failed.result.status).toBe('error')
    expect(retries).toEqual([0, 1, 2])
    expect(grammarFaults(failed.events)).toEqual([])
  })

  it('wraps a tool call and may repeat or skip it', async () => {
    let runs = 0
    const flaky = tool('work', () => {
      runs += 1
      if (runs === 1) throw new Error('try again')
      return `run ${runs}`
    })
    const twice = plugin({ call: (_, run) => run().catch(run) })
    const { events } = await play([{ toolCalls: [{ name: 'work', arguments: {} }] }, { text: 'ok' }], { tools: [flaky], plugins: [twice] })
    expect(ofType(events, 'toolExecutionEnd')).toMatchObject([{ isError: false, result: { content: [{ text: 'run 2' }] } }])
  })

  it('supplies further input when the model has finished', async () => {
    const open = ['tests', 'docs']
    const todo = plugin({ idle: () => (open.length === 0 ? undefined : `Still to do: ${open.shift()}`) })
    const { model, result, agent } = await play([{ text: 'a' }, { text: 'b' }, { text: 'c' }], { plugins: [todo] })
    expect(result).toMatchObject({ status: 'completed', text: 'c' })
    expect(model.provider.requests).toHaveLength(3)
    expect(agent.messages.flatMap((message) => (message.role === 'user' ? textOf(message.content) : []))).toEqual([
      'go',
      'Still to do: tests',
      'Still to do: docs',
    ])
  })

  it('persists notes in the session for the next process', async () => {
    const store = memorySessionStore()
    const seen: unknown[] = []
    const counter = definePlugin({
      name: 'counter',
      begin: (run) => {
        seen.push(run.notes)
        return { afterTurn: () => run.keep({ turns: (Object(run.notes).turns ?? 0) + 1 }) }
      },
    })
    const model = scripted(() => ({ text: 'ok' }))
    const first = new Agent({ model, plugins: [counter], session: store })
    await first.prompt('one').result
    const { sessionId } = first
    await first.close()
    const second = await resumeAgent(store, sessionId, { model, plugins: [counter] })
    await second.prompt('two').result
    expect(seen).toEqual([undefined, { turns: 1 }])
    expect(JSON.stringify(model.provider.requests)).not.toContain('turns')
  })

  it('stores notes before the next request, or ends the run', async () => {
    const note = definePlugin({ name: 'note', begin: (run) => ({ afterTurn: () => run.keep({ turns: 1 }) }) })
    const journal: Journal = {
      append: async ({ entry }) => {
        for (let tick = 0; tick < 20; tick += 1) await undefined
        if (entry.type === 'input' && entry.message.role === 'extension') throw new Error('disk full')
      },
    }
    const { model, result } = await play([sum, { text: 'never' }], { tools: [add], plugins: [note], journal, logger: false })
    expect(result).toMatchObject({ status: 'error', error: { code: 'journal' } })
    expect(model.provider.requests).toHaveLength(1)
  })

  it("charges the plugin's model calls to the run", async () => {
    const answers: string[] = []
    const asking = definePlugin({
      name: 'asking',
      begin: (run) => ({
        async request() {
          answers.push(await run.ask('Which language is this?', { systemPrompt: 'One word.' }))
          return undefined
        },
      }),
    })
    const model = scripted([
      { text: 'English', usage: { input: 5, output: 1 } },
      { text: 'Hi.', usage: { input: 7, output: 2 } },
    ])
    const { result, events } = await playOnce(model, asking)
    expect(answers).toEqual(['English'])
    expect(result.usage.totalTokens).toBe(9)
    expect(result.totalUsage.totalTokens).toBe(15)
    expect(ofType(events, 'agentEnd')).toHaveLength(1)
  })
})

async function playOnce(model: ReturnType<typeof scripted>, mine: ReturnType<typeof plugin>) {
  const agent = new Agent({ model, plugins: [mine] })
  const run = agent.prompt('go')
  const events = []
  for await (const event of run) events.push(event)
  return { events, result: await run.result }
}
