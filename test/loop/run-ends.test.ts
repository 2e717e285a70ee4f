import { describe, expect, it } from 'vitest'
import { Agent, memorySessionStore, textOf } from '../../src/index.ts'
import { costOver, type LoopHooks, toolCalled, turnCount } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { parseMessages, serializeMessages } from '../../src/session.ts'
import { grammarFaults } from '../support/grammar.ts'
import { add, ofType, play, tool } from '../support/play.ts'

const sum = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }
const endless = [sum, sum, sum, sum, sum, sum]

describe('stopWhen', () => {
  it.each([
    ['a number of turns', turnCount(2), 2, 'turnCount(2)'],
    ['a call of a given tool', toolCalled('add'), 1, 'toolCalled("add")'],
    [
      'a function',
      async function enough({ turns }: { turns: number }) {
        return turns === 3
      },
      3,
      'enough',
    ],
  ])('ends the run as completed after %s, including tool results', async (_name, stopWhen, turns, name) => {
    const { model, events, result, agent } = await play(endless, { tools: [add], stopWhen })
    expect(result).toMatchObject({ status: 'completed', endedBy: { type: 'condition', name } })
    expect(model.provider.requests).toHaveLength(turns)
    expect(ofType(events, 'agentEnd')).toEqual([expect.objectContaining({ status: 'completed', endedBy: { type: 'condition', name } })])
    expect(grammarFaults(events)).toEqual([])
    expect(agent.messages.at(-1)?.role).toBe('toolResult')
  })

  it('reports the first condition that matches', async () => {
    const { result } = await play(endless, { tools: [add], stopWhen: [costOver(1e9), turnCount(4), toolCalled('add')] })
    expect(result.endedBy).toEqual({ type: 'condition', name: 'toolCalled("add")' })
  })

  it('does not set endedBy if the run ends anyway', async () => {
    const { result } = await play([{ text: 'hi' }], { stopWhen: turnCount(1) })
    expect(result.status).toBe('completed')
    expect(result).not.toHaveProperty('endedBy')
  })

  it('ends the run with an error if it throws or returns a non-boolean', async () => {
    const broken = await play(endless, {
      tools: [add],
      stopWhen: () => {
        throw new Error('broken')
      },
      logger: false,
    })
    expect(broken.result).toMatchObject({ status: 'error', error: { code: 'hookFailed', message: expect.stringContaining('broken') } })
    const odd = await play(endless, { tools: [add], stopWhen: (() => undefined) as never, logger: false })
    expect(odd.result).toMatchObject({ status: 'error', error: { code: 'hookFailed' } })
  })

  it('rejects invalid conditions in the constructor', () => {
    expect(() => turnCount(0)).toThrow(/turnCount\(0\)/)
    expect(() => costOver(Number.NaN)).toThrow(/costOver/)
    expect(() => toolCalled('')).toThrow(/toolCalled/)
    expect(() => new Agent({ model: scripted([]), stopWhen: 3 as never })).toThrow(/stopWhen/)
  })

  it('does not affect the next prompt', async () => {
    const { agent } = await play([sum, { text: 'Three.' }], { tools: [add], stopWhen: turnCount(1) })
    expect((await agent.prompt('and?').result).text).toBe('Three.')
  })
})

describe('a tool result with endRun', () => {
  const submit = tool('submit', () => ({ content: [{ type: 'text', text: 'sent' }], endRun: true }))

  it('ends the run as completed after all calls in the turn', async () => {
    const both = {
      text: 'I am done.',
      toolCalls: [
        { name: 'submit', arguments: {} },
        { name: 'add', arguments: { a: 1, b: 2 } },
      ],
    }
    const { model, result, events } = await play([both, { text: 'never' }], { tools: [add, submit] })
    expect(result).toMatchObject({ status: 'completed', text: 'I am done.', endedBy: { type: 'tool', toolName: 'submit' } })
    expect(result.messages.filter(({ role }) => role === 'toolResult')).toHaveLength(2)
    expect(model.provider.requests).toHaveLength(1)
    expect(grammarFaults(events)).toEqual([])
  })

  it.each([
    ['before', ['submit', 'ask']],
    ['after', ['ask', 'submit']],
  ])('ends the continued run even if a call %s it needed approval', async (_place, names) => {
    const ask = tool('ask', () => 'allowed', { needsApproval: true })
    const calls = { toolCalls: names.map((name) => ({ name, arguments: {} })) }
    for (const type of ['parallel', 'sequential'] as const) {
      const model = scripted([calls, { text: 'never' }])
      const agent = new Agent({ model, tools: [submit, ask], toolExecution: { type }, approvalTimeoutMs: 1 })
      expect((await agent.prompt('go').result).status).toBe('paused')
      const session = parseMessages(serializeMessages(agent.messages))
      const later = new Agent({ model, tools: [submit, ask], messages: session })
      const run = later.continueLoop()
      for await (const event of run) if (event.type === 'approvalRequested') run.approve(event)
      expect(await run.result).toMatchObject({ status: 'completed', endedBy: { type: 'tool', toolName: 'submit' } })
      expect(model.provider.requests).toHaveLength(1)
    }
  })

  it('does not end a run whose prompt abandons the pending call', async () => {
    const ask = tool('ask', () => 'allowed', { needsApproval: true })
    const calls = { toolCalls: ['submit', 'ask'].map((name) => ({ name, arguments: {} })) }
    const model = scripted([calls, { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'Three.' }])
    const agent = new Agent({ model, tools: [submit, ask, add], approvalTimeoutMs: 1 })
    await agent.prompt('go').result
    const run = agent.prompt('And 1 + 2?')
    run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event))
    expect(await run.result).toMatchObject({ status: 'completed', text: 'Three.' })
  })

  it('checks stopWhen after the pending calls have run', async () => {
    const ask = tool('ask', () => 'allowed', { needsApproval: true })
    const model = scripted([{ toolCalls: [{ name: 'ask', arguments: {} }] }, { text: 'never' }])
    const seen: number[] = []
    const noted = Object.assign(({ turns }: { turns: number }) => seen.push(turns) > 0, { label: 'noted' })
    const agent = new Agent({ model, tools: [ask], approvalTimeoutMs: 1, stopWhen: noted })
    await agent.prompt('go').result
    const run = agent.continueLoop()
    run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event))
    expect(await run.result).toMatchObject({ status: 'completed', endedBy: { type: 'condition', name: 'noted' } })
    expect([seen, model.provider.requests.length]).toEqual([[1], 1])
  })

  it('stores endedBy in the session record', async () => {
    const session = memorySessionStore()
    const { agent } = await play([{ toolCalls: [{ name: 'submit', arguments: {} }] }], { tools: [submit], session })
    expect(JSON.stringify(await session.load(agent.sessionId))).toContain('"endedBy"')
  })
})

describe('hooks that replace a result', () => {
  const secret = tool('read', () => ({ content: [{ type: 'text', text: 'password=hunter2' }], details: { raw: 'hunter2' } }))
  const call = { toolCalls: [{ name: 'read', arguments: {} }] }
  const redacted = (text: string) => ({ result: { content: [{ type: 'text' as const, text: text.replace(/hunter2/g, '***') }] } })
  const textIn = ({ result }: { result: { content: readonly unknown[] } }) => textOf(result.content as never)

  it('removes the original result everywhere with beforeToolExecutionEnd', async () => {
    const session = memorySessionStore()
    const hooks: LoopHooks = { beforeToolExecutionEnd: (info) => redacted(textIn(info)) }
    const { model, agent, events, result } = await play([call, { text: 'ok' }], { tools: [secret], hooks, session })
    expect(JSON.stringify(model.provider.requests[1]?.messages)).toContain('password=***')
    expect(JSON.stringify([events, result, agent.messages, await session.load(agent.sessionId), model.provider.requests])).not.toContain(
      'hunter2',
    )
  })

  it('replaces the result in history, record and request with afterToolExecution', async () => {
    const session = memorySessionStore()
    const hooks: LoopHooks = { afterToolExecution: (info) => redacted(textIn(info)) }
    const { model, agent } = await play([call, { text: 'ok' }], { tools: [secret], hooks, session })
    expect(JSON.stringify([agent.messages, await session.load(agent.sessionId), model.provider.requests])).not.toContain('hunter2')
    expect(JSON.stringify(model.provider.requests[1]?.messages)).toContain('password=***')
  })

  it('removes the result if beforeToolExecutionEnd throws', async () => {
    const hooks: LoopHooks = { beforeToolExecutionEnd: () => Promise.reject(new Error('down')) }
    const { model, events } = await play([call, { text: 'ok' }], { tools: [secret], hooks, logger: false })
    expect(JSON.stringify([events, model.provider.requests])).not.toContain('hunter2')
    expect(JSON.stringify(model.provider.requests[1]?.messages)).toContain('withheld')
  })

  it('removes the result if the replacement is invalid', async () => {
    const hooks = { beforeToolExecutionEnd: () => ({ result: 3n }) } as never
    const { model } = await play([call, { text: 'ok' }], { tools: [secret], hooks, logger: false })
    expect(JSON.stringify(model.provider.requests[1]?.messages)).not.toContain('hunter2')
  })
})

describe('afterAnswer', () => {
  it('rejects a response with a reason and requests another', async () => {
    const hooks: LoopHooks = { afterAnswer: ({ text }) => (text.includes('bomb') ? { allow: false, reason: 'no weapons' } : true) }
    const { model, result, events } = await play([{ text: 'a bomb' }, { text: 'a cake' }], { hooks })
    expect(result).toMatchObject({ status: 'completed', text: 'a cake' })
    expect(JSON.stringify(model.provider.requests[1]?.messages)).toContain('no weapons')
    expect(JSON.stringify(result.messages)).not.toContain('a bomb')
    expect(result.messages[1]).toMatchObject({
      content: [],
      stopReason: 'guardRail',
      guarded: { verdict: 'refused', reason: 'no weapons', wasShown: true },
    })
    expect(grammarFaults(events)).toEqual([])
  })

  it('ends the run as rejected on the second rejection or with retry: false', async () => {
    const twice = await play([{ text: 'x' }, { text: 'y' }, { text: 'z' }], {
      hooks: { afterAnswer: () => ({ allow: false, reason: 'never' }) },
    })
    expect(twice.result).toMatchObject({ status: 'rejected', rejection: expect.stringContaining('never') })
    expect(twice.model.provider.requests).toHaveLength(2)
    const once = await play([{ text: 'x' }, { text: 'y' }], { hooks: { afterAnswer: () => ({ allow: false, retry: false }) } })
    expect(once.result.status).toBe('rejected')
    expect(once.model.provider.requests).toHaveLength(1)
  })

  it('replaces the text in history and result and reports the replacement', async () => {
    const { result, agent, events } = await play([{ text: 'call 555-1234' }], {
      hooks: { afterAnswer: ({ text }) => ({ text: text.replace(/\d/g, '#') }) },
    })
    expect(result.text).toBe('call ###-####')
    expect(JSON.stringify(agent.messages)).not.toContain('555-1234')
    expect(ofType(events, 'messageEnd').at(-1)?.message).toMatchObject({ guarded: { verdict: 'replaced', wasShown: true } })
  })

  it('does not run for responses with tool calls', async () => {
    const seen: string[] = []
    await play([{ text: 'let me see', ...sum }, { text: 'Three.' }], {
      tools: [add],
      hooks: { afterAnswer: ({ text }) => void seen.push(text) },
    })
    expect(seen).toEqual(['Three.'])
  })

  it.each<unknown>([{ alow: false }, 'no', 0, 42, {}, []])(
    'ends the run with an error for an invalid return value: %j',
    async (verdict) => {
      const hooks = { afterAnswer: () => verdict } as never
      const { result, agent } = await play([{ text: 'secret' }], { hooks, logger: false })
      expect(result).toMatchObject({ status: 'error', error: { code: 'hookFailed' } })
      expect(JSON.stringify(agent.messages)).not.toContain('secret')
    },
  )

  it('logs no model refusal if the hook rejects the response', async () => {
    const warned: string[] = []
    const logger = { warn: (event: string) => void warned.push(event) }
    await play([{ text: 'x' }], { hooks: { afterAnswer: () => ({ allow: false, retry: false }) }, logger })
    expect(warned).toEqual([])
  })

  it('ends the run without storing the response if it throws', async () => {
    const { result, agent } = await play([{ text: 'secret' }], {
      hooks: { afterAnswer: () => Promise.reject(new Error('down')) },
      logger: false,
    })
    expect(result).toMatchObject({ status: 'error', error: { code: 'hookFailed' } })
    expect(JSON.stringify(agent.messages)).not.toContain('secret')
  })
})
