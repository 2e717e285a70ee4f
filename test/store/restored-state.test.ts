import { describe, expect, it } from 'vitest'
import { Agent, type AgentMessage, defineTool } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { createStore, initialState, type RunState, restoredState } from '../../src/store.ts'

const tool = (name: string, execute: () => string) =>
  defineTool({ name, label: name, description: name, parameters: { type: 'object' }, execute: async () => execute() })

function agentWith(messages: AgentMessage[] = []): Agent {
  return new Agent({
    model: scripted([
      {
        thinking: 'Hm.',
        text: 'I will look.',
        toolCalls: [
          { name: 'good', arguments: { a: 1 } },
          { name: 'bad', arguments: {} },
        ],
        usage: { input: 5, output: 3 },
      },
      { text: 'Done.', usage: { input: 7, output: 2 } },
    ]),
    tools: [
      tool('good', () => 'fine'),
      tool('bad', () => {
        throw new Error('no')
      }),
    ],
    messages,
  })
}

/** What of a state does not depend on times and on events that are not stored. */
function lasting({ messages, tools, usage }: RunState): unknown {
  return {
    messages: messages.map(({ id, role, status, blocks, message }) => ({
      id,
      role,
      status,
      blocks: blocks.map(({ type }) => type),
      message,
    })),
    tools: Object.values(tools).map(({ toolCallId, toolName, status, args, result }) => ({
      toolCallId,
      toolName,
      status,
      args,
      content: result?.content,
    })),
    usage,
  }
}

describe('restoredState', () => {
  it('restores the state that the store showed before a reload', async () => {
    const agent = agentWith()
    const store = createStore()
    agent.subscribe(store.dispatch)
    await agent.prompt('Go').result
    await Promise.resolve()
    expect(Object.values(store.getSnapshot().tools).map(({ status }) => status)).toEqual(['done', 'failed'])
    expect(lasting(restoredState(agent.messages))).toEqual(lasting(store.getSnapshot()))
  })

  it('provides the initial state for the next run', async () => {
    const before = agentWith()
    await before.prompt('Go').result
    const agent = agentWith([...before.messages])
    const store = createStore(undefined, { initial: restoredState(agent.messages) })
    agent.subscribe(store.dispatch)
    await agent.prompt('More').result
    await Promise.resolve()
    const state = store.getSnapshot()
    expect(state.messages.map(({ id }) => id)).toEqual(agent.messages.map(({ id }) => id))
    expect(state.usage.output).toBe(10)
  })

  it('cancels an unfinished call after a new message, else reports an unknown outcome', () => {
    const said = (id: string): AgentMessage => ({ role: 'user', id, content: [{ type: 'text', text: 'Go' }], timestamp: 1 })
    const messages: AgentMessage[] = [
      said('u'),
      {
        role: 'assistant',
        id: 'a',
        content: [{ type: 'toolCall', id: 'c', name: 'good', arguments: {} }],
        stopReason: 'toolUse',
        model: 'm',
        provider: 'p',
        usage: initialState().usage,
        timestamp: 2,
      },
    ]
    expect(restoredState(messages).tools.c?.status).toBe('unknown')
    expect(restoredState([...messages, said('u2')]).tools.c?.status).toBe('cancelled')
    const heldBack: AgentMessage = { role: 'extension', id: 'e', kind: 'approvalPaused', data: { toolCallIds: ['c'] } }
    expect(restoredState([...messages, heldBack]).tools.c?.status).toBe('cancelled')
  })
})
