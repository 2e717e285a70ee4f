import { describe, expect, it } from 'vitest'
import { Agent, type AgentOptions } from '../../src/index.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { type AgentSnapshot, parseSnapshot, SessionError } from '../../src/session.ts'
import { prunTools, revertTool } from '../../src/tools.ts'
import { longHistory, requestText } from '../support/long-history.ts'
import { gate, play, seen, tool } from '../support/play.ts'

const look = tool('look', () => `seen ${'x'.repeat(400)}`)
const looking = { toolCalls: [{ name: 'look', arguments: {} }] }
const done = { text: 'done' }
const contextConfig = { maxContextTokens: 1600, systemPromptTokens: 0, compaction: { keepFirstTurns: 1, keepRecentTurns: 3 } }

/** What another process gets: text, and an agent of its own. */
function elsewhere(snapshot: AgentSnapshot, script: Script, options: Partial<AgentOptions> = {}) {
  const model = scripted(script)
  const agent = new Agent({ model, tools: [look, revertTool(), ...prunTools()], contextConfig, ...options })
  agent.restore(parseSnapshot(JSON.stringify(snapshot)))
  return { agent, model }
}

/** A conversation that was compacted, pruned and reverted. */
async function eventful() {
  const prune = { toolCalls: [{ name: 'prun_with_memo', arguments: { tokens: 1, memo: 'learnt' } }] }
  const revert = { toolCalls: [{ name: 'revert_to_state', arguments: { category: 'failure', step: 'n2', summary: 'Wrong port.' } }] }
  return play([looking, looking, prune, looking, revert, done, done], {
    messages: longHistory(20, 100),
    tools: [look, revertTool(), ...prunTools()],
    contextConfig,
    systemPrompt: 'be brief',
    thinking: 'low',
    temperature: 0.5,
    configId: 'main',
  })
}

describe('checkpoint and restore', () => {
  it('continues in another process with identical requests', async () => {
    const { agent, model } = await eventful()
    const snapshot = agent.checkpoint()
    const { agent: other, model: otherModel } = elsewhere(snapshot, [done])
    const next = [await agent.prompt('next').result, await other.prompt('next').result]
    const [here, there] = [model.provider.requests.at(-1), otherModel.provider.requests.at(-1)]
    const plain = (text: string) => text.replace(/"(id|timestamp)":[^,}]+/g, '')
    expect(plain(requestText(there))).toBe(plain(requestText(here)))
    expect(there).toMatchObject({ systemPrompt: 'be brief', thinking: 'low', temperature: 0.5 })
    expect(next[0]?.loopId).toBe(next[1]?.loopId)
  })

  it('keeps identity, history, compaction, prunes, reverts and settings', async () => {
    const { agent } = await eventful()
    const snapshot = agent.checkpoint()
    expect(snapshot.state.overlay?.keepCompacted.messages.length).toBeGreaterThan(0)
    expect(snapshot.state.prunes).toMatchObject([{ memo: 'learnt' }])
    expect(snapshot.state.reverts).toMatchObject([{ tag: { kind: 'lesson', text: 'Wrong port.' } }])
    const { agent: other } = elsewhere(snapshot, [done])
    expect([other.agentId, other.sessionId, other.lastLoopId]).toEqual([agent.agentId, agent.sessionId, agent.lastLoopId])
    expect(other.messages).toEqual(agent.messages)
    expect({ ...other.checkpoint(), createdAt: 0 }).toEqual({ ...snapshot, createdAt: 0 })
  })

  it('assigns new loop ids and keeps parent ids', async () => {
    const { agent } = await play([done, done])
    const used = [agent.lastLoopId]
    const { agent: other } = elsewhere(agent.checkpoint(), [done, done])
    const run = other.prompt('next')
    const starts: unknown[] = []
    run.subscribe((event) => event.type === 'agentStart' && starts.push(event.parentLoopId))
    const { loopId } = await run.result
    expect(used).not.toContain(loopId)
    expect(starts).toEqual(used)
    other.restore(parseSnapshot(JSON.stringify(other.checkpoint())))
    expect((await other.prompt('more').result).loopId).not.toBe(loopId)
  })

  it('copies state between agent and snapshot', async () => {
    const { agent } = await play([done, done])
    const snapshot = agent.checkpoint()
    const before = structuredClone(snapshot)
    await agent.prompt('more').result
    expect(snapshot).toEqual(before)
    const { agent: other } = elsewhere(snapshot, [done])
    other.restore(snapshot)
    await other.prompt('else').result
    expect(snapshot).toEqual(before)
  })

  it('supports an agent without messages', () => {
    const { agent } = elsewhere(new Agent({ model: scripted([]), messages: [] }).checkpoint(), [])
    expect(agent.messages).toEqual([])
    expect(agent.lastLoopId).toBeUndefined()
  })

  it('contains no model, key, header or tool', async () => {
    const secret = 'sk-very-secret'
    const model = scripted([done], { config: { baseUrl: `https://user:${secret}@host/?key=${secret}`, headers: { 'x-api-key': secret } } })
    const { agent } = await play([], {
      model: { ...model, credentials: { current: async () => secret, invalidate: async () => undefined } },
      tools: [look],
    })
    const text = JSON.stringify(agent.checkpoint())
    for (const hidden of [secret, 'host', 'look', 'scripted demo']) expect(text).not.toContain(hidden)
  })

  it('resumes after the last complete step of an aborted run', async () => {
    const opened = gate()
    const slow = tool('slow', async () => {
      await opened.opened
      return 'late'
    })
    const agent = new Agent({ model: scripted([{ toolCalls: [{ name: 'slow', arguments: {} }] }, done]), tools: [slow] })
    const run = agent.prompt('go')
    await seen(run, 'toolExecutionStart')
    run.abort()
    await run.result
    opened.open()
    const { agent: other, model } = elsewhere(agent.checkpoint(), [done])
    expect((await other.continueLoop().result).status).toBe('completed')
    expect(requestText(model.provider.requests[0])).toContain('Cancelled')
  })

  it("resumes with the run's pending approval", async () => {
    const ran: string[] = []
    const asked = tool('asked', () => `ok ${ran.push('ran')}`, { needsApproval: true })
    const { agent, result } = await play([{ toolCalls: [{ name: 'asked', arguments: {} }] }], { tools: [asked], approvalTimeoutMs: 1 })
    expect(result.status).toBe('paused')
    const { agent: other } = elsewhere(agent.checkpoint(), [done], { tools: [asked] })
    const run = other.continueLoop()
    for await (const event of run) if (event.type === 'approvalRequested') run.approve(event)
    expect(ran).toEqual(['ran'])
    expect((await run.result).status).toBe('completed')
  })

  it('throws on restore during a run and captures only complete steps', async () => {
    const agent = new Agent({ model: scripted([done]) })
    const snapshot = agent.checkpoint()
    const run = agent.prompt('go')
    expect(() => agent.restore(snapshot)).toThrow(expect.objectContaining({ code: 'busy' }))
    expect(agent.checkpoint().messages).toEqual([])
    await run.result
    expect(agent.messages).toHaveLength(2)
  })

  it('changes nothing if the settings are invalid', async () => {
    const { agent } = await play([done])
    const before = agent.checkpoint()
    const broken: AgentSnapshot = { ...before, settings: { systemPrompt: '', thinking: 'off', maxTokens: -1 } }
    expect(() => agent.restore(broken)).toThrow(expect.objectContaining({ code: 'invalidOption' }))
    expect({ ...agent.checkpoint(), createdAt: before.createdAt }).toEqual(before)
  })
})

describe('parseSnapshot', () => {
  const refused = (text: string): SessionError => {
    try {
      parseSnapshot(text)
    } catch (error) {
      if (error instanceof SessionError) return error
      throw error
    }
    throw new Error(`accepted: ${text}`)
  }

  it('parses a written snapshot and keeps unknown keys', async () => {
    const { agent } = await eventful()
    const snapshot = { ...agent.checkpoint(), note: 'mine' }
    expect(parseSnapshot(JSON.stringify(snapshot))).toEqual(snapshot)
  })

  it.each([
    ['text', 'nonsense', ''],
    ['a list', '[]', ''],
    ['another version', '{"version":2}', ''],
    ['an object without a version', '{}', ''],
  ])('rejects %s as a snapshot', (_, text) => {
    expect(refused(text).code).toMatch(/^invalid/)
  })

  it.each([
    ['agentId', (broken: Record<string, unknown>) => Object.assign(broken, { agentId: 1 }), 'snapshot.agentId'],
    ['sessionId', (broken) => delete broken.sessionId, 'snapshot.sessionId'],
    ['loopCounts', (broken) => Object.assign(broken, { loopCounts: null }), 'snapshot.loopCounts'],
    ['non-numeric counts', (broken) => Object.assign(broken, { loopCounts: { a: 'many' } }), 'snapshot.loopCounts'],
    ['messages', (broken) => Object.assign(broken, { messages: [{ role: 'user' }] }), 'snapshot.messages[0]'],
    ['state', (broken) => delete broken.state, 'snapshot.state'],
    ['thinking', (broken) => Object.assign(broken, { settings: { systemPrompt: '', thinking: 'deep' } }), 'snapshot.settings.thinking'],
    [
      'overlay',
      (broken) => Object.assign(broken, { state: { overlay: { id: 'o', createdAt: 1, loopId: 'l', keepCompacted: {} } } }),
      'snapshot.state.overlay.keepCompacted.range',
    ],
    [
      'messages of a section',
      (broken) =>
        Object.assign(broken, {
          state: {
            overlay: {
              id: 'o',
              createdAt: 1,
              loopId: 'l',
              keepCompacted: { range: { firstId: 'a', lastId: 'b', turns: 1 }, messages: [{ role: 'nobody' }] },
            },
          },
        }),
      'snapshot.state.overlay.keepCompacted.messages[0]',
    ],
    ['prunes', (broken) => Object.assign(broken, { state: { prunes: [{}] } }), 'snapshot.state.prunes[0]'],
    [
      'tags',
      (broken) => Object.assign(broken, { state: { reverts: [{ id: 'r', at: 1, targetNodeId: 0, abandonedNodeIds: [], tag: {} }] } }),
      'snapshot.state.reverts[0]',
    ],
  ] as [string, (broken: Record<string, unknown>) => unknown, string][])('rejects invalid %s and reports the path', (_, spoil, path) => {
    const snapshot: Record<string, unknown> = { ...new Agent({ model: scripted([]) }).checkpoint() }
    spoil(snapshot)
    expect(refused(JSON.stringify(snapshot)).message).toContain(path)
  })
})
