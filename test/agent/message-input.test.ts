import { describe, expect, it } from 'vitest'
import { emptyUsage, extensionMessage } from '../../src/context.ts'
import type { MessageInput } from '../../src/contract/message/message.ts'
import { Agent, type AgentMessage, ConfigError, type PromptInput } from '../../src/index.ts'
import { agentLoop, continueLoop } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { parseMessages } from '../../src/session.ts'

const agentOn = (messages?: readonly MessageInput[]) =>
  new Agent({ model: scripted(() => ({ text: 'ok' })), ...(messages && { messages }) })

/** Every place that takes messages; what stands in the history then. */
const places: [string, string, (input: never) => Promise<readonly AgentMessage[]> | readonly AgentMessage[]][] = [
  ['prompt', 'prompt', async (input: PromptInput) => (await agentOn().prompt(input).result).messages],
  ['send', 'prompt', async (input: PromptInput) => (await agentOn().send(input).result).messages],
  ['steer', 'prompt', (input: PromptInput) => [agentOn().steer(input).message]],
  ['followUp', 'prompt', (input: PromptInput) => [agentOn().followUp(input).message]],
  ['messages', 'messages[0]', (input: MessageInput) => agentOn([input]).messages],
  [
    'appendMessage',
    'message',
    (input: MessageInput) => {
      const agent = agentOn()
      agent.appendMessage(input)
      return agent.messages
    },
  ],
  [
    'replaceMessages',
    'messages[0]',
    (input: MessageInput) => {
      const agent = agentOn()
      agent.replaceMessages([input])
      return agent.messages
    },
  ],
  [
    'agentLoop',
    'prompt',
    async (input: PromptInput) => {
      const context = { systemPrompt: '', messages: [], tools: [] }
      await agentLoop(input, context, { model: scripted([]) }, { emit: () => undefined, signal: new AbortController().signal })
      return context.messages
    },
  ],
]

describe.each(places)('%s', (_, path, take) => {
  it('accepts messages in the short input form', async () => {
    const [message] = await take({ role: 'user', content: 'hi' } as never)
    expect(message).toMatchObject({
      role: 'user',
      content: [{ type: 'text', text: 'hi' }],
      id: expect.any(String),
      timestamp: expect.any(Number),
    })
  })

  it('rejects a system message and suggests systemPrompt', async () => {
    await expect((async () => take({ role: 'system', content: 'Be brief.' } as never))()).rejects.toMatchObject({
      code: 'invalidMessage',
      message: expect.stringMatching(/systemPrompt/),
    })
  })

  it.each<[unknown, string]>([
    [{ role: 'usr', content: 'hi' }, '.role is "usr"'],
    [{ role: 'user' }, '.content is undefined'],
    [{ role: 'user', content: [{ type: 'txt', text: 'hi' }] }, '.content[0].type is "txt"'],
    [{ role: 'user', content: [{ type: 'text', text: 1 }] }, '.content[0].text is 1'],
    [{ role: 'user', content: [{ type: 'image', data: 'AA==' }] }, '.content[0].mimeType is undefined'],
    [{ role: 'user', content: 'hi', timestamp: 'today' }, '.timestamp is "today"'],
    [{ role: 'toolResult', content: 'hi' }, '.toolCallId is undefined'],
    [{ role: 'assistant', content: 'hi', stopReason: 'done' }, '.stopReason is "done"'],
    [{ role: 'extension', kind: 'note' }, '.data is undefined'],
    [{ role: 'extension', kind: 'note', data: { at: [new Date(0)] } }, '.data.at[0] is of type Date, which JSON cannot represent'],
    [{ role: 'extension', kind: 'note', data: 1n }, '.data is a bigint, which JSON cannot represent'],
    [{ role: 'extension', kind: 'note', data: { a: Number.NaN } }, '.data.a is NaN, which JSON cannot represent'],
    [extensionMessage('note', deep(201) as never), 'is nested deeper than 200 levels'],
    [extensionMessage('note', circle() as never), 'contains itself'],
    [{ role: 'assistant', content: [{ type: 'toolCall', id: 'c', name: 't', arguments: deep(201) }] }, 'is nested deeper than 200 levels'],
  ])('rejects an invalid message (%#) with its path', async (message, complaint) => {
    const refused = (async () => take(message as never))()
    await expect(refused).rejects.toBeInstanceOf(ConfigError)
    await expect(refused).rejects.toMatchObject({ code: 'invalidMessage', message: expect.stringContaining(complaint) })
    if (complaint.startsWith('.')) await expect(refused).rejects.toThrow(path + complaint)
  })

  it.each([null, undefined, 7, true, [[]], [null], ['text']])('rejects a non-message value (%#)', async (input) => {
    await expect((async () => take(input as never))()).rejects.toMatchObject({ code: 'invalidMessage' })
  })
})

describe('history in the short input form', () => {
  it('adds missing fields, including those of responses and results', async () => {
    const agent = agentOn([
      { role: 'user', content: 'What is 1 + 1?' },
      { role: 'assistant', content: [{ type: 'toolCall', id: 'c1', name: 'add', arguments: { a: 1, b: 1 } }] },
      { role: 'toolResult', toolCallId: 'c1', toolName: 'add', content: '2' },
      { role: 'assistant', content: 'Two.' },
    ])
    expect(agent.messages).toMatchObject([
      { role: 'user' },
      { stopReason: 'toolUse', model: 'unknown', provider: 'unknown', usage: emptyUsage() },
      { isError: false, content: [{ type: 'text', text: '2' }] },
      { stopReason: 'stop' },
    ])
    expect((await agent.prompt({ role: 'user', content: 'And 2 + 2?' }).result).status).toBe('completed')
    expect(new Set(agent.messages.map(({ id }) => id)).size).toBe(agent.messages.length)
  })

  it('reuses complete messages and keeps unknown keys', () => {
    const whole = { role: 'user' as const, id: 'm1', content: [{ type: 'text' as const, text: 'hi' }], timestamp: 1, novel: true }
    expect(agentOn([whole]).messages[0]).toBe(whole)
  })

  it('changes nothing if a message is invalid', () => {
    const agent = agentOn([{ role: 'user', content: 'hi' }])
    const before = [...agent.messages]
    expect(() =>
      agent.replaceMessages([
        { role: 'user', content: 'a' },
        { role: 'user', content: 7 as never },
      ]),
    ).toThrow('messages[1].content is 7')
    expect(() => agent.replaceMessages(parseMessages(JSON.stringify([extensionMessage('n', deep(300) as never)])))).toThrow(
      expect.objectContaining({ code: 'invalidMessages' }),
    )
    expect(agent.messages).toEqual(before)
  })

  it('rejects an invalid message list in the context of a bare loop', async () => {
    const context = { systemPrompt: '', messages: [], tools: [], agentId: 'a', sessionId: 's' }
    const options = { emit: () => undefined, signal: new AbortController().signal }
    await expect(continueLoop({ ...context, messages: 'none' as never }, { model: scripted([]) }, options)).rejects.toThrow(
      'context.messages is "none"',
    )
  })
})

describe('prompt metadata', () => {
  it.each([
    [deep(201), 'deeper'],
    [() => 1, 'JSON cannot represent'],
    [{ at: new Map() }, 'of type Map'],
    [circle(), 'contains itself'],
  ])('throws before the run for metadata that JSON cannot represent', (metadata, complaint) => {
    const agent = agentOn()
    expect(() => agent.prompt('go', { metadata: metadata as never })).toThrow(complaint)
    expect(agent.isStreaming).toBe(false)
  })

  it('accepts metadata nested 200 levels deep with repeated objects', async () => {
    const part = { a: [1, 2] }
    const shared = Array.from({ length: 1000 }, () => part)
    expect((await agentOn().prompt('go', { metadata: [deep(198), shared] as never }).result).status).toBe('completed')
  })
})

function deep(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? { a: value } : [value]
  return levels % 2 === 0 ? { a: (value as unknown[])[0] } : value
}

function circle(): unknown {
  const value: { self?: unknown } = {}
  value.self = value
  return value
}
