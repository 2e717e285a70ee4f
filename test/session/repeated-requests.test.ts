import { describe, expect, it } from 'vitest'
import { Agent, type AgentOptions, defineTool, memorySessionStore, resumeAgent, type SessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { exportSession, salvageSession } from '../../src/session.ts'

type Turns = Map<string, unknown>

function setUp(options: Partial<AgentOptions> = {}): AgentOptions {
  const look = defineTool({ name: 'look', description: 'Looks.', parameters: { type: 'object' }, execute: () => 'Nothing.' })
  return { model: scripted(() => ({ text: 'Yes.' })), systemPrompt: 'Be brief.', tools: [look], captureTurnRequests: true, ...options }
}

/** Says `count` things, and notes what the model was sent for each turn. */
async function talk(agent: Agent, count: number, sent: Turns): Promise<void> {
  const stop = agent.subscribe((event) => {
    if (event.type === 'turnRequest') sent.set(`${event.loopId} ${event.turnIndex}`, structuredClone(event.request))
  })
  for (let asked = 0; asked < count; asked += 1) await agent.prompt(`Question ${asked}`).result
  stop()
}

async function recorded(store: SessionStore): Promise<Turns> {
  const { loops } = await store.load('s')
  return new Map(
    loops.flatMap(({ turns }) => turns.map(({ turnId, requestPayload }) => [`${turnId.loopId} ${turnId.turnIndex}`, requestPayload])),
  )
}

/** Messages that the captured requests of the log hold. */
async function messagesHeld(store: SessionStore): Promise<number[]> {
  const lines = (await exportSession(store, 's')).split('\n').filter((line) => line.includes('"type":"turnRequest"'))
  return lines.map((line) => Number(JSON.parse(line).body.request.messages.length))
}

describe('a log of captured requests', () => {
  it('stores each message about once and restores every request', async () => {
    const [store, sent] = [memorySessionStore(), new Map()]
    const agent = new Agent(setUp({ session: store, sessionId: 's' }))
    await talk(agent, 150, sent)
    await agent.close()
    expect(await recorded(store)).toEqual(sent)
    const held = await messagesHeld(store)
    // All of it in the first request of each chain; else the last answer and the new question.
    expect(held.filter((count) => count > 2)).toEqual([131, 261])
    const { loops } = await store.load('s')
    const [before, after] = loops.slice(-2).map(({ turns }) => turns[0]?.requestPayload)
    expect(after?.messages[0]).toBe(before?.messages[0])
  })

  it('restores requests after compaction, changed settings and a second writer', async () => {
    const [store, sent] = [memorySessionStore(), new Map()]
    const contextConfig = { maxContextTokens: 700, systemPromptTokens: 10, compaction: { keepFirstTurns: 1, keepRecentTurns: 2 } }
    const options = setUp({ contextConfig })
    const first = new Agent({ ...options, session: store, sessionId: 's' })
    await talk(first, 40, sent)
    await first.close()
    const second = await resumeAgent(store, 's', { ...options, systemPrompt: 'Be long.', tools: [] })
    await talk(second, 5, sent)
    await second.close()
    const third = await resumeAgent(store, 's', options)
    await third.regenerate().result
    await talk(third, 5, sent)
    await third.close()
    const told = await recorded(store)
    for (const [turn, request] of sent) expect(told.get(turn)).toEqual(request)
  })

  it('omits requests after a damaged base until the next complete one', async () => {
    const [store, sent] = [memorySessionStore(), new Map()]
    const agent = new Agent(setUp({ session: store, sessionId: 's' }))
    await talk(agent, 80, sent)
    await agent.close()
    const [, ...lines] = (await exportSession(store, 's')).split('\n')
    let seen = 0
    const kept = lines.map((line) => (line.includes('"type":"turnRequest"') && ++seen === 10 ? line.replace('Question', 'Damaged!') : line))
    const { session } = salvageSession(kept, 's')
    const payloads = session.loops.map(({ turns }) => turns[0]?.requestPayload)
    expect(payloads.map((payload) => payload !== undefined)).toEqual(payloads.map((_, at) => at < 9 || at >= 65))
    for (const { turns } of session.loops) {
      const { turnId, requestPayload } = turns[0] ?? {}
      if (requestPayload !== undefined) expect(requestPayload).toEqual(sent.get(`${turnId?.loopId} ${turnId?.turnIndex}`))
    }
  })
})
