import { describe, expect, it } from 'vitest'
import { Agent, AgentBusyError, type AgentEvent, ConfigError, userMessage } from '../../src/index.ts'
import { defaultLimits, defaultRetry } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { parseMessages, SessionError, serializeMessages } from '../../src/session.ts'
import { add, gate, ofType, play } from '../support/play.ts'

const waiting = () => new Agent({ model: scripted([{ text: 'x' }], { gate: () => new Promise(() => undefined) }) })

describe('Agent constructor', () => {
  it('requires a model in the options', () => {
    expect(() => new Agent({} as never)).toThrow(ConfigError)
    expect(() => new Agent({} as never)).toThrow(/model is undefined/)
  })

  it.each([
    { toolExecution: { type: 'batched' as const, size: 0 } },
    { maxTokens: 0 },
    { toolTimeoutMs: -1 },
    { approvalTimeoutMs: Number.NaN },
    { limits: { ...defaultLimits, maxTurns: Number.NaN } },
    { limits: { ...defaultLimits, maxCost: -1 } },
    { retry: { ...defaultRetry, maxRetries: Number.NaN } },
    { tools: [{ ...add, timeoutMs: 0 }] },
    { replayBytes: 0 },
    { tools: [add, add] },
  ])('rejects invalid options: %o', (options) => {
    expect(() => new Agent({ model: scripted([]), ...options })).toThrow(ConfigError)
  })

  it('generates stable ids unless they are given', () => {
    const agent = new Agent({ model: scripted([]) })
    expect(agent.agentId).not.toBe(agent.sessionId)
    const given = new Agent({ model: scripted([]), agentId: 'a', sessionId: 's' })
    expect([given.agentId, given.sessionId]).toEqual(['a', 's'])
  })
})

describe('Agent.configure', () => {
  it('exposes settings and applies changes from the next run', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }])
    const agent = new Agent({ model, systemPrompt: 'Be brief.' })
    await agent.prompt('go').result
    agent.configure({ systemPrompt: 'Be kind.' })
    agent.configure({ thinking: 'high' })
    agent.configure({ maxTokens: 99 })
    agent.configure({ temperature: 0.1 })
    agent.configure({ tools: [add] })
    await agent.prompt('go').result
    const [first, second] = model.provider.requests
    expect(first).toMatchObject({ systemPrompt: 'Be brief.', thinking: 'off', tools: [] })
    expect(second).toMatchObject({ systemPrompt: 'Be kind.', thinking: 'high', maxTokens: 99, temperature: 0.1 })
    expect(second?.tools.map((tool) => tool.name)).toEqual(['add'])
    agent.configure({ maxTokens: undefined })
    agent.configure({ temperature: undefined })
    expect([agent.settings.maxTokens, agent.settings.temperature, agent.settings.thinking, agent.settings.systemPrompt]).toEqual([
      undefined,
      undefined,
      'high',
      'Be kind.',
    ])
  })

  it('leaves all settings unchanged if one value is invalid', () => {
    const agent = new Agent({ model: scripted([]), maxTokens: 5 })
    expect(() => agent.configure({ maxTokens: -1, systemPrompt: 'new' })).toThrow(ConfigError)
    expect([agent.settings.maxTokens, agent.settings.systemPrompt]).toEqual([5, undefined])
  })

  it('copies settings and history with with() under a new session id', async () => {
    const { agent } = await play([{ text: 'a' }, { text: 'b' }], { systemPrompt: 'one', tools: [add] })
    const copy = agent.with({ systemPrompt: 'two' })
    expect([copy.settings.systemPrompt, copy.settings.tools?.length, copy.messages.length]).toEqual(['two', 1, 2])
    expect(copy.sessionId).not.toBe(agent.sessionId)
    await copy.prompt('more').result
    expect([agent.messages.length, copy.messages.length]).toEqual([2, 4])
  })
})

describe('concurrent runs', () => {
  it('throws AgentBusyError for a second prompt and changes nothing', async () => {
    const agent = waiting()
    const run = agent.prompt('first')
    expect(agent.isStreaming).toBe(true)
    const before = agent.messages.length
    expect(() => agent.prompt('second')).toThrow(AgentBusyError)
    expect(() => agent.continueLoop()).toThrow(AgentBusyError)
    expect(() => agent.appendMessage(userMessage('x'))).toThrow(AgentBusyError)
    expect(() => agent.replaceMessages([])).toThrow(AgentBusyError)
    expect(() => agent.replaceMessages(parseMessages('[]'))).toThrow(AgentBusyError)
    expect(agent.messages).toHaveLength(before)
    expect(agent.currentRun).toBe(run)
    run.abort()
    await run.result
    expect(agent.isStreaming).toBe(false)
  })

  it('allows a prompt from an agentEnd listener', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]) })
    const second = gate()
    const stop = agent.subscribe((event) => {
      if (event.type !== 'agentEnd') return
      stop()
      agent.prompt('again').result.then(second.open)
    })
    await agent.prompt('go').result
    await second.opened
    expect(agent.messages).toHaveLength(4)
  })

  it('throws for an empty prompt and stays idle', () => {
    const agent = new Agent({ model: scripted([]) })
    expect(() => agent.prompt('  ')).toThrow(/empty/)
    expect(agent.isStreaming).toBe(false)
  })
})

describe('prompt input', () => {
  it('accepts text, messages and images as a prompt', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }])
    const agent = new Agent({ model })
    await agent.prompt('text').result
    await agent.prompt([userMessage('look', [{ type: 'image', data: 'AA==', mimeType: 'image/png' }]), userMessage('and tell')]).result
    const contents = model.provider.requests[1]?.messages.map((message) => message.content.map((block) => block.type))
    expect(contents).toEqual([['text'], ['text'], ['text', 'image'], ['text']])
  })
})

describe('agent history', () => {
  it('uses restored messages in the next prompt', async () => {
    const { agent } = await play([{ thinking: 'hm', text: 'Hello Ada' }], {}, 'I am Ada')
    const json = serializeMessages(agent.messages)
    const model = scripted([{ text: 'Ada' }])
    const other = new Agent({ model })
    other.replaceMessages(parseMessages(json))
    expect(other.messages).toEqual(agent.messages)
    await other.prompt('Who am I?').result
    expect(model.provider.requests[0]?.messages).toHaveLength(3)
    expect(other.messages).toHaveLength(4)
  })

  it('keeps its history if the messages to restore are invalid', async () => {
    const { agent } = await play([{ text: 'a' }])
    for (const json of ['', '{}', '[1]', '[{"role":"system","content":[]}]']) {
      expect(() => agent.replaceMessages(parseMessages(json)), json).toThrow(SessionError)
    }
    expect(agent.messages).toHaveLength(2)
  })

  it('supports append, replace and clear between runs', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }]) })
    agent.appendMessage(userMessage('q'))
    expect((await agent.continueLoop().result).text).toBe('a')
    agent.replaceMessages([userMessage('r')])
    expect(agent.messages).toHaveLength(1)
    agent.replaceMessages([])
    expect(() => agent.continueLoop()).toThrow(/empty/)
  })

  it.each([
    ['a failed response', { fail: { code: 'api' as const, message: 'overloaded' } }],
    ['a response that failed midway', { text: 'half', fail: { code: 'api' as const, message: 'cut', afterText: true } }],
  ])('continues after %s by sending a new request', async (_, step) => {
    const { agent, model, result } = await play([step, { text: 'fine' }])
    expect(result.status).toBe('error')
    expect((await agent.continueLoop().result).text).toBe('fine')
    expect(model.provider.requests).toHaveLength(2)
    expect(() => agent.continueLoop()).toThrow(/Cannot continue/)
  })

  it('continues after an abort with a new request', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a longer answer' }, { text: 'fine' }]) })
    const run = agent.prompt('go')
    run.subscribe((event) => event.type === 'messageUpdate' && run.abort())
    expect((await run.result).status).toBe('aborted')
    expect((await agent.continueLoop().result).text).toBe('fine')
  })

  it('continues after an error and a new user message', async () => {
    const { agent } = await play([{ fail: { code: 'api', message: 'bad request' } }, { text: 'fine' }])
    agent.appendMessage(userMessage('try again'))
    expect((await agent.continueLoop().result).text).toBe('fine')
  })
})

describe('loop ids', () => {
  it('reports the previous loop as the parent', async () => {
    const { agent, events } = await play([{ text: 'a' }, { text: 'b' }])
    const first = agent.lastLoopId
    await agent.prompt('more').result
    const [one, two] = ofType(events, 'agentStart')
    expect(one).not.toHaveProperty('parentLoopId')
    expect(two?.parentLoopId).toBe(first)
    expect(agent.lastLoopId).toBe(two?.loopId)
  })

  it('numbers loops separately for each configuration', async () => {
    const { agent, events } = await play([{ text: 'a' }])
    agent.configure({ model: scripted([{ text: 'b' }], { id: 'other' }) })
    await agent.prompt('go').result
    expect(ofType(events, 'agentStart').map((event) => event.loopId.split('.').slice(1).join('.'))).toEqual([
      'scripted.scripted.1',
      'scripted.other.1',
    ])
  })
})

describe('Agent.reset', () => {
  it('aborts the run, clears history and queues, and makes the agent idle immediately', async () => {
    const agent = waiting()
    const run = agent.prompt('go')
    const receipt = agent.followUp('later')
    agent.reset()
    expect(agent.isStreaming).toBe(false)
    expect(agent.messages).toEqual([])
    expect(receipt.status).toBe('returned')
    expect((await run.result).status).toBe('aborted')
    expect(agent.messages).toEqual([])
  })
})

describe('Agent.subscribe', () => {
  it('delivers events of every run until it is unsubscribed', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }]) })
    const ends: AgentEvent[] = []
    const stop = agent.subscribe((event) => event.type === 'agentEnd' && ends.push(event))
    await agent.prompt('1').result
    await agent.prompt('2').result
    stop()
    await agent.prompt('3').result
    expect(ends).toHaveLength(2)
  })

  it('stops immediately after unsubscribing, even during an event', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]) })
    const heard: string[] = []
    const stop = agent.subscribe((event) => {
      heard.push(event.type)
      if (event.type === 'turnStart') stop()
    })
    await agent.prompt('1').result
    await agent.prompt('2').result
    expect(heard).toEqual(['agentStart', 'turnStart'])
  })

  it('registers a repeated function twice, with separate unsubscribes', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]) })
    let ends = 0
    const listener = (event: AgentEvent) => void (event.type === 'agentEnd' && ends++)
    const stop = agent.subscribe(listener)
    agent.subscribe(listener)
    await agent.prompt('1').result
    stop()
    await agent.prompt('2').result
    expect(ends).toBe(3)
  })

  it('delivers only later events if subscribed during a run', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]) })
    const heard: string[] = []
    const late = (event: AgentEvent) => heard.push(event.type)
    const stopOuter = agent.subscribe((event) => event.type === 'turnEnd' && void agent.subscribe(late))
    await agent.prompt('1').result
    stopOuter()
    expect(heard).toEqual(['agentEnd'])
    await agent.prompt('2').result
    expect(heard.filter((type) => type === 'agentStart')).toHaveLength(1)
  })

  it('logs an error thrown by a listener and continues the run', async () => {
    const warnings: string[] = []
    const agent = new Agent({ model: scripted([{ text: 'a' }]), logger: { warn: (event) => warnings.push(event) } })
    agent.subscribe(() => {
      throw new Error('broken listener')
    })
    const run = agent.prompt('go')
    let events = 0
    run.subscribe(() => (events += 1))
    expect((await run.result).text).toBe('a')
    expect(events).toBeGreaterThan(5)
    expect(new Set(warnings)).toEqual(new Set(['listenerFailed']))
  })
})

describe('events of a run', () => {
  it('replays events from a cursor to late readers', async () => {
    const { agent } = await play([{ text: 'a' }, { text: 'b' }])
    const run = agent.prompt('go')
    await run.result
    const all: AgentEvent[] = []
    for await (const event of run) all.push(event)
    const late: AgentEvent[] = []
    for await (const event of run.events({ after: 4 })) late.push(event)
    expect(all.at(-1)?.type).toBe('agentEnd')
    expect(late).toEqual(all.slice(4))
  })

  it('consists of plain data that survives structuredClone and JSON', async () => {
    const { events } = await play([{ thinking: 'x', text: 'a', toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'b' }], {
      tools: [add],
    })
    expect(structuredClone(events)).toEqual(events)
    expect(JSON.parse(JSON.stringify(events))).toEqual(events)
  })
})

describe('regenerate and editAndResend', () => {
  it('requests a new response to the same or edited text and rejects unknown ids', async () => {
    const agent = new Agent({ model: scripted([{ text: 'one' }, { text: 'two' }, { text: 'three' }]) })
    await agent.prompt('question').result
    const [question, answer] = agent.messages
    const unknown = expect.objectContaining({ code: 'unknownMessage' })
    for (const id of ['', 'nobody', '__proto__']) {
      expect(() => agent.regenerate({ messageId: id })).toThrow(unknown)
      expect(() => agent.editAndResend(id, 'other words')).toThrow(unknown)
    }
    // An answer is no words of a user, but belongs to some.
    expect(() => agent.editAndResend(answer?.id ?? '', 'other words')).toThrow(unknown)
    expect(agent.messages).toEqual([question, answer])
    await agent.regenerate({ messageId: answer?.id ?? '' }).result
    expect(agent.messages).toMatchObject([{ id: question?.id }, { content: [{ text: 'two' }] }])
    await agent.editAndResend(question?.id ?? '', 'other words').result
    expect(agent.messages).toMatchObject([{ content: [{ text: 'other words' }] }, { content: [{ text: 'three' }] }])
  })
})
