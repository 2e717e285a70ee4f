import { describe, expect, it, vi } from 'vitest'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { longHistory, requestText } from '../support/long-history.ts'
import { play } from '../support/play.ts'

const done = { text: 'done' }

describe('newSession', () => {
  it('starts a session with a new id and the same history (basic_agent_new_session)', async () => {
    const { agent, model } = await play([done, { text: 'more' }])
    const before = agent.sessionId
    const { agentId } = agent
    const sessionId = agent.newSession()
    expect(agent.sessionId).toBe(sessionId)
    expect(sessionId).not.toBe(before)
    expect([agent.agentId, agent.lastLoopId]).toEqual([agentId, undefined])
    const run = agent.prompt('next')
    const starts: unknown[] = []
    run.subscribe((event) => event.type === 'agentStart' && starts.push([event.sessionId, event.parentLoopId, event.loopId]))
    await run.result
    expect(starts).toEqual([[sessionId, undefined, `${sessionId}.scripted.scripted.1`]])
    expect(model.provider.requests[1]?.messages).toHaveLength(3)
  })

  it('keeps the compacted state in the new session', async () => {
    const model = scripted([done])
    const agent = new Agent({ model, messages: longHistory(20, 100) })
    await agent.compact().result
    agent.newSession()
    await agent.prompt('next').result
    expect(requestText(model.provider.requests[0])).not.toContain('answer old-5;')
  })

  it('throws while a run is active', async () => {
    const agent = new Agent({ model: scripted([done]) })
    const run = agent.prompt('go')
    expect(() => agent.newSession()).toThrow(expect.objectContaining({ code: 'busy' }))
    await run.result
  })
})

describe('newSession after idle time (basic_agent_check_and_rotate)', () => {
  it('keeps the session if the agent has no messages', () => {
    const agent = new Agent({ model: scripted([]) })
    const { sessionId } = agent
    expect(agent.newSession({ afterIdleMs: 0 })).toBe(sessionId)
    expect([agent.sessionId, agent.lastActiveAt]).toEqual([sessionId, undefined])
  })

  it('rotates the session once after the idle time has passed', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
    try {
      const { agent } = await play([done, done])
      const { sessionId } = agent
      expect(agent.lastActiveAt).toBe(1_000_000)
      vi.setSystemTime(1_000_000 + 1_800_000)
      expect(agent.newSession({ afterIdleMs: 1_800_000 })).toBe(sessionId)
      expect(agent.sessionId).toBe(sessionId)
      vi.setSystemTime(1_000_000 + 1_800_001)
      const rotated = agent.newSession({ afterIdleMs: 1_800_000 })
      expect(rotated).toBe(agent.sessionId)
      expect(rotated).not.toBe(sessionId)
      // The new session is empty of runs: it is not idle.
      expect(agent.newSession({ afterIdleMs: 1_800_000 })).toBe(rotated)
      await agent.prompt('next').result
      expect(agent.sessionId).toBe(rotated)
      expect(agent.newSession({ afterIdleMs: 1_800_000 })).toBe(rotated)
    } finally {
      vi.useRealTimers()
    }
  })
})
