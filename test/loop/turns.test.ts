import { describe, expect, it } from 'vitest'
import { isLlmMessage } from '../../src/context.ts'
import { Agent, type AgentEvent, type AgentMessage, userMessage } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { StreamProvider } from '../../src/providers.ts'
import { WorkspaceError } from '../../src/tools.ts'
import { grammarFaults } from '../support/grammar.ts'
import { add, gate, ofType, outline, play, tool } from '../support/play.ts'

describe('a run of one turn', () => {
  it('emits events in the documented order and returns both messages', async () => {
    const { agent, events, result } = await play([{ text: 'hello' }])
    expect(outline(events)).toEqual([
      'agentStart',
      'turnStart',
      'messageStart user',
      'messageEnd user',
      'messageStart assistant',
      'messageEnd assistant',
      'turnEnd',
      'agentEnd',
    ])
    expect(grammarFaults(events)).toEqual([])
    expect(result).toMatchObject({ status: 'completed', text: 'hello' })
    expect(result.messages.map((message) => message.role)).toEqual(['user', 'assistant'])
    expect(agent.messages).toHaveLength(2)
  })

  it('emits a delta before the provider has finished', async () => {
    const { opened, open } = gate()
    let pieces = 0
    const model = scripted([{ text: ['first', 'second'] }], { gate: () => (++pieces === 1 ? Promise.resolve() : opened) })
    const run = new Agent({ model }).prompt('go')
    const seen: string[] = []
    for await (const event of run) {
      if (event.type !== 'messageUpdate' || event.delta.type !== 'text') continue
      seen.push(event.delta.delta)
      if (seen.length === 1) {
        const partial = run.message(event.messageId)
        expect(partial).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: 'first' }] })
        open()
      }
    }
    expect(seen).toEqual(['first', 'second'])
  })

  it('concatenates text deltas to the full text, between messageStart and messageEnd', async () => {
    const { events, result } = await play([{ thinking: 'hm', text: 'one two three four five six' }])
    const updates = ofType(events, 'messageUpdate')
    const text = updates.flatMap(({ delta }) => (delta.type === 'text' ? [delta.delta] : [])).join('')
    expect(text).toBe(result.text)
    expect(updates.length).toBeGreaterThan(1)
  })

  it('includes ids, metadata and configuration in agentStart, but no key', async () => {
    const { agent, events, result } = await play([{ text: 'x' }], { thinking: 'low', temperature: 0.5, maxTokens: 77 })
    const [start] = ofType(events, 'agentStart')
    expect(start).toMatchObject({
      agentId: agent.agentId,
      sessionId: agent.sessionId,
      loopId: `${agent.sessionId}.scripted.scripted.low.1`,
      continuationKind: { kind: 'initial' },
      configSnapshot: { model: 'scripted', provider: 'scripted', thinkingLevel: 'low', temperature: 0.5, maxTokens: 77 },
    })
    for (const absent of ['metadata', 'agentName']) expect(start).not.toHaveProperty(absent)
    expect(result.loopId).toBe(start?.loopId)
  })

  it.each([
    ['https://user:canary@host.example/v1/', 'https://host.example/v1'],
    ['https://host.example/v1?key=canary#canary', 'https://host.example/v1'],
    ['https://user:canary/with/slashes@host.example/v1?key=canary', 'https://host.example/v1'],
    ['https://user:canary#and?more@host.example/v1', 'https://host.example/v1'],
    ['/api/llm?key=canary', '/api/llm'],
    ['https://host.example/@org/v1', 'https://host.example/@org/v1'],
  ])('removes secrets from the endpoint %s', async (baseUrl, shown) => {
    const model = scripted([{ text: 'x' }], { config: { baseUrl, headers: { 'x-api-key': 'canary' } } })
    const { events } = await play([], { model })
    expect(ofType(events, 'agentStart')[0]?.configSnapshot.baseUrl).toBe(shown)
    expect(JSON.stringify(events)).not.toContain('canary')
  })

  it('includes the agent name in agentStart', async () => {
    const { events } = await play([{ text: 'x' }], { agentName: 'helper' })
    expect(ofType(events, 'agentStart')[0]?.agentName).toBe('helper')
  })

  it("passes the prompt's metadata to agentStart", async () => {
    const agent = new Agent({ model: scripted([{ text: 'x' }]) })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    await agent.prompt('go', { metadata: { trace: 7 } }).result
    expect(ofType(events, 'agentStart')[0]?.metadata).toEqual({ trace: 7 })
  })

  it('sets the turn id on every message', async () => {
    const { result } = await play([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: '3' }], { tools: [add] })
    const turns = result.messages.map((message) => (message.role === 'extension' ? undefined : message.turnId))
    expect(turns.map((turn) => turn?.turnIndex)).toEqual([0, 0, 0, 1])
    expect(new Set(turns.map((turn) => turn?.loopId))).toEqual(new Set([result.loopId]))
  })
})

describe('turns and tools', () => {
  const callAdd = { toolCalls: [{ name: 'add', arguments: { a: 2, b: 3 } }] }

  it('runs the tool, sends its result and ends with a response', async () => {
    const { events, model, result } = await play([callAdd, { text: 'five' }], { tools: [add] })
    expect(result.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'toolResult', 'assistant'])
    expect(model.provider.requests[1]?.messages.at(-1)).toMatchObject({ role: 'toolResult', content: [{ type: 'text', text: 'sum 5' }] })
    expect(ofType(events, 'turnStart').map((event) => event.triggeredBy)).toEqual(['user', 'continuation'])
    expect(grammarFaults(events)).toEqual([])
  })

  it('reports usage per turn and the total at the end', async () => {
    const usage = { input: 10, output: 5, reasoning: 2 }
    const { events, result } = await play(
      [
        { ...callAdd, usage },
        { text: 'five', usage },
      ],
      { tools: [add] },
    )
    expect(ofType(events, 'turnEnd').map((event) => event.usage.output)).toEqual([5, 5])
    expect(result.usage).toMatchObject({ input: 20, output: 10, reasoning: 4 })
  })

  it('sends the whole history in the request of the second prompt', async () => {
    const { agent, model } = await play([{ text: 'Hello Ada' }, { text: 'Ada' }], {}, 'My name is Ada')
    await agent.prompt('What is my name?').result
    expect(model.provider.requests[1]?.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user'])
  })

  it('orders the request by insertion, not by timestamp', async () => {
    const late = { ...userMessage('first'), timestamp: 9_000_000_000_000 }
    const { model } = await play([{ text: 'ok' }], { messages: [late] }, { ...userMessage('second'), timestamp: 1 })
    const texts = model.provider.requests[0]?.messages.flatMap((message) => message.content.map((block) => 'text' in block && block.text))
    expect(texts).toEqual(['first', 'second'])
  })

  it('runs transformContext and convertToLlm before every request without changing the history', async () => {
    const { agent, model } = await play([callAdd, { text: 'x' }], {
      tools: [add],
      transformContext: (messages) => messages.slice(-1),
      convertToLlm: (messages) => [userMessage(`${messages.length} message`)],
    })
    expect(model.provider.requests.map((request) => request.messages.length)).toEqual([1, 1])
    expect(agent.messages).toHaveLength(4)
  })

  it('keeps the history unchanged if callbacks change the message list', async () => {
    const cut = <T>(messages: readonly T[]): T[] => {
      const list = messages as T[] // readonly is a promise of the type only; callers in JavaScript break it
      list.splice(0, 1)
      return list
    }
    const old = { messages: [userMessage('old'), userMessage('older')] }
    const first = await play([{ text: 'x' }], { ...old, transformContext: cut })
    const second = await play([{ text: 'x' }], {
      ...old,
      convertToLlm: (messages) => cut(messages).filter((message) => message.role === 'user'),
    })
    expect([first.agent.messages.length, second.agent.messages.length]).toEqual([4, 4])
    expect(first.model.provider.requests[0]?.messages).toHaveLength(2)
  })

  it('sends messages that callbacks changed, but keeps the history unchanged', async () => {
    const redact = (messages: readonly AgentMessage[]) => {
      for (const message of messages) if (message.role === 'user') message.content[0] = { type: 'text', text: 'redacted' }
      return messages
    }
    for (const config of [
      { transformContext: redact },
      { convertToLlm: (all: readonly AgentMessage[]) => redact(all).filter(isLlmMessage) },
    ]) {
      const { agent, model } = await play([callAdd, { text: 'x' }], { tools: [add], ...config }, 'my secret')
      const sent = model.provider.requests.map(({ messages }) => messages[0]?.content)
      expect(sent).toEqual([[{ type: 'text', text: 'redacted' }], [{ type: 'text', text: 'redacted' }]])
      expect(agent.messages[0]).toMatchObject({ content: [{ type: 'text', text: 'my secret' }] })
    }
  })

  it('reuses the objects of unchanged messages', async () => {
    const { agent, model } = await play([callAdd, { text: 'x' }], {
      tools: [add],
      transformContext: (messages) => [...messages],
      convertToLlm: (messages) => messages.filter(isLlmMessage),
    })
    const [, second] = model.provider.requests
    expect(second?.messages).toHaveLength(3)
    for (const [index, message] of second?.messages.entries() ?? []) expect(message).toBe(agent.messages[index])
  })

  it('ends with an error if transformContext throws, and can continue', async () => {
    let broken = true
    const { agent, events, result } = await play([{ text: 'fine' }], {
      transformContext: (messages) => {
        if (broken) throw new Error('no embedding index')
        return messages
      },
    })
    expect(result).toMatchObject({ status: 'error', error: { message: 'transformContext failed: no embedding index. The run stopped.' } })
    expect(grammarFaults(events)).toEqual([])
    broken = false
    expect((await agent.prompt('again').result).text).toBe('fine')
  })

  it('reports the error code of the cause of a failed request', async () => {
    const nameless = tool('t', () => 'x', { parameters: { '~standard': {} } as never })
    expect((await play([], { tools: [nameless] })).result.error?.code).toBe('invalidTool')
    const transformContext = () => Promise.reject(new WorkspaceError('io', 'disk'))
    expect((await play([], { transformContext })).result.error).toEqual({
      code: 'io',
      message: 'transformContext failed: disk. The run stopped.',
    })
  })

  it('omits extension messages from requests', async () => {
    const note = { role: 'extension' as const, id: 'n1', kind: 'note', data: { a: 1 } }
    const { agent, model } = await play([{ text: 'ok' }], { messages: [note] })
    expect(model.provider.requests[0]?.messages).toHaveLength(1)
    expect(agent.messages[0]).toEqual(note)
  })

  it('runs all calls in a message whose trailing text was truncated', async () => {
    const content = [
      { type: 'toolCall' as const, id: 'c1', name: 'add', arguments: { a: 1, b: 2 } },
      { type: 'text' as const, text: 'and th' },
    ]
    const model = scripted([{ text: 'x' }, { text: 'done' }])
    const { stream } = model.provider
    const cut: StreamProvider['stream'] = async (request, emit, signal) => {
      const message = await stream.call(model.provider, request, emit, signal)
      return message.content.some((block) => 'text' in block && block.text === 'x')
        ? { ...message, content, stopReason: 'length' }
        : message
    }
    const provider: StreamProvider = { api: 'scripted', encode: (request) => model.provider.encode(request), stream: cut }
    const { result } = await play([], { model: { config: model.config, provider }, tools: [add] })
    expect(result.messages[2]).toMatchObject({ role: 'toolResult', isError: false, content: [{ text: 'sum 3' }] })
  })

  it('does not run a call that the output limit may have truncated', async () => {
    const ran: string[] = []
    const tools = ['a', 'b'].map((name) => tool(name, () => `ok ${ran.push(name)}`))
    const calls = [
      { name: 'a', arguments: {} },
      { name: 'b', arguments: {} },
    ]
    const { events, result } = await play([{ toolCalls: calls, stopReason: 'length' }, { text: 'done' }], { tools })
    expect(ran).toEqual(['a'])
    expect(result.messages.flatMap((m) => (m.role === 'toolResult' ? [m.isError] : []))).toEqual([false, true])
    expect(grammarFaults(events)).toEqual([])
  })
})
