import { describe, expect, it } from 'vitest'
import { openedState } from '../../playground/src/state/conversation/opened-state.ts'
import { anchorsOf } from '../../playground/src/tools/data-anchors.ts'
import { Agent, type AgentEvent, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { withEvents } from '../../src/session.ts'
import { initialState, type RunState, reduce } from '../../src/store.ts'
import { tool } from '../support/play.ts'

/** A conversation whose tool and hook send data, and what the page shows after each event. */
async function played() {
  const kept = withEvents(memorySessionStore())
  const agent = new Agent({
    model: scripted([{ toolCalls: [{ id: 'c1', name: 'look', arguments: {} }] }, { text: 'Done.' }]),
    tools: [
      tool('look', (_args, ctx) => {
        ctx.data('steps', 1, { id: 's' })
        ctx.data('steps', 2, { id: 's' })
        ctx.data('cursor', 7, { transient: true })
      }),
    ],
    hooks: { beforeTurn: ({ data, turnIndex }) => data('turn', turnIndex, { id: `t${turnIndex}` }) },
    session: kept,
  })
  const states: RunState[] = []
  agent.subscribe((event: AgentEvent) => states.push(reduce(states.at(-1) ?? initialState(), event)))
  await agent.prompt('Go.').result
  await agent.close()
  return { kept, agent, states, last: states.at(-1) ?? initialState() }
}

/** The values below each message, by the text of the message or the name of its call. */
function shown(state: RunState) {
  const anchors = anchorsOf(state, state.data)
  return state.messages.flatMap(({ id, role }) => anchors.get(id)?.map(({ name, value }) => [role, name, value]) ?? [])
}

describe('data parts in the conversation', () => {
  it('follow the message before them if no tool call sent them', async () => {
    const { last } = await played()
    // The hook runs before the response.
    expect(shown(last)).toEqual([
      ['user', 'turn', 0],
      ['assistant', 'turn', 1],
    ])
    expect(last.data.filter(({ toolCallId }) => toolCallId === 'c1').map(({ name, value }) => [name, value])).toEqual([
      ['steps', 2],
      ['cursor', 7],
    ])
  })

  it('follow the newest message until they are stored', async () => {
    const { states } = await played()
    const first = states.find(({ data, messages }) => data.length > 0 && messages.length > 0)
    expect(first && shown(first)).toEqual([['user', 'turn', 0]])
  })

  it('have the same place after a reload, without the transient ones', async () => {
    const { kept, agent, last } = await played()
    const there = await resumeAgent(kept, agent.sessionId, { model: scripted([]) })
    const state = openedState(there, (await kept.load(agent.sessionId)).loops)
    expect(state.data).toEqual(last.data.filter(({ transient }) => !transient))
    expect(shown(state)).toEqual(shown(last))
  })

  it('include extension messages, after the message before them', () => {
    const agent = new Agent({ model: scripted([]), messages: ['a', 'b'].map((content) => ({ role: 'user', content })) })
    agent.appendMessage({ role: 'extension', kind: 'note', data: 1 })
    agent.appendMessage({ role: 'user', content: 'c' })
    expect(shown(openedState(agent, []))).toEqual([['user', 'note', 1]])
    expect(anchorsOf(openedState(agent, []), openedState(agent, []).data).get(agent.messages[1]?.id ?? '')).toHaveLength(1)
  })

  it('follow the message of their call if no events are stored', async () => {
    const { agent } = await played()
    expect(shown(openedState(agent, []))).toContainEqual(['assistant', 'steps', 2])
  })
})
