import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { fileSessionStore } from '../../../adapters/node/index.ts'
import { Agent, type AgentMessage, memorySessionStore, resumeAgent, type SessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { type LogDriver, logSessionStore, memoryDriver } from '../../../src/session.ts'
import { tool } from '../../support/play.ts'
import { runs } from '../../support/runs.ts'
import { temporaryRoot } from '../node/temporary.ts'

const look = tool('look', async () => ({ content: [{ type: 'text', text: 'seen' }] }))
const ask = tool('ask', async () => ({ content: [{ type: 'text', text: 'done' }] }), { needsApproval: true })

/** Answers `look 3` with three turns that call a tool twice, and `ask` with a call that waits. */
const model = scripted(({ messages }) => {
  const said = messages.findLast(({ role }) => role === 'user')
  const text = said?.role === 'user' && said.content[0]?.type === 'text' ? said.content[0].text : ''
  const [word, count = '0'] = text.split(' ')
  const results = messages.slice(messages.findLastIndex(({ role }) => role === 'user')).filter(({ role }) => role === 'toolResult').length
  if (word === 'ask' && results === 0) return { toolCalls: [{ name: 'ask', arguments: {} }] }
  if (word !== 'look' || results >= 2 * Number(count)) return { text: 'ok' }
  return {
    toolCalls: [
      { name: 'look', arguments: {} },
      { name: 'look', arguments: {} },
    ],
  }
})

/** A process that has none of the sessions of `store` in memory. */
function readerOf(store: SessionStore) {
  const app = createAgentApp({ sessions: memoryLiveSessions({ store, agent: () => ({ model }) }), authorize: () => true })
  return async (path: string) => {
    const answer = await app.request(`/sessions/s${path}`)
    return { status: answer.status, body: await answer.json() }
  }
}

/** The pages of a history, the newest first, as a client asks for them. */
async function pagesOf(read: ReturnType<typeof readerOf>, limit: number): Promise<AgentMessage[][]> {
  const pages: AgentMessage[][] = []
  for (let before = ''; ; ) {
    const { body } = await read(`/history?limit=${limit}${before}`)
    pages.push(body.messages)
    if (body.hasEarlier !== true) return pages
    before = `&before=${body.messages[0].id}`
  }
}

/** All loops of a session, read by page. */
async function loopsOf(read: ReturnType<typeof readerOf>, limit: number): Promise<unknown[]> {
  const loops: unknown[] = []
  for (let before = ''; ; ) {
    const { body } = await read(`/loops?limit=${limit}${before}`)
    loops.unshift(...body.loops)
    if (body.hasEarlier !== true) return loops
    expect(body.loops).toHaveLength(limit)
    before = `&before=${body.loops[0].loopId}`
  }
}

type Step = { say: string } | { edit: number } | { back: number }

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('hello', 'look 1', 'look 4', 'ask').map((say) => ({ say })) },
  { weight: 1, arbitrary: fc.nat(20).map((edit) => ({ edit })) },
  { weight: 1, arbitrary: fc.nat(20).map((back) => ({ back })) },
)

/** A session in which these things were done, each by a writer of its own or by one after the other. */
async function sessionOfSteps(store: SessionStore, steps: readonly Step[], anew: boolean): Promise<void> {
  const options = { model, tools: [look, ask] }
  let agent = new Agent({ ...options, sessionId: 's', session: store })
  const loops: string[] = []
  for (const each of steps) {
    if (anew && loops.length > 0) {
      await agent.close()
      agent = await resumeAgent(store, 's', options)
    }
    const users = agent.messages.filter(({ role }) => role === 'user')
    if ('edit' in each) {
      const { id } = users[each.edit % Math.max(1, users.length)] ?? {}
      if (id !== undefined) await agent.editAndResend(id, 'said anew').result
    } else if ('back' in each && loops.length > 0) {
      await agent.close()
      agent = await resumeAgent(store, 's', { ...options, loopId: loops[each.back % loops.length] ?? 'none' })
      await agent.prompt('from there', { kind: { kind: 'branch', tag: 'b' } }).result
    } else await agent.prompt('say' in each ? each.say : 'hello').result
    if (agent.lastLoopId !== undefined) loops.push(agent.lastLoopId)
  }
  await agent.close()
}

describe.each([
  ['memory', () => memorySessionStore()],
  ['files', () => fileSessionStore(temporaryRoot().root)],
])('history pages: %s', (name, make) => {
  const cases = name === 'memory' ? runs(8, 500) : runs(4, 100)
  it('covers the whole history after edits, branches and pauses', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }),
        fc.boolean(),
        fc.constantFrom(1, 3, 20),
        async (steps, anew, limit) => {
          const store = make()
          await sessionOfSteps(store, steps, anew)
          const { body: whole } = await readerOf(store)('/history')
          const pages = await pagesOf(readerOf(store), limit)
          expect(pages.toReversed().flat()).toEqual(whole.messages)
          for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit)
          const { body: first } = await readerOf(store)(`/history?limit=${limit}`)
          expect([first.loopId, first.approvals, first.queued]).toEqual([whole.loopId, whole.approvals, whole.queued])
          expect((await readerOf(store)('/approvals')).body.approvals).toEqual(whole.approvals)
          const { body: all, status } = await readerOf(store)('/')
          // Nothing was said.
          if (status === 404) return
          expect(await loopsOf(readerOf(store), limit)).toEqual(
            all.session.loops.map(({ agentId: _, ...loop }: { agentId: string }) => loop),
          )
        },
      ),
      { numRuns: cases },
    )
  })
})

describe('the first history page of a long session', () => {
  /** A store that counts the lines that are read of it. */
  function counting() {
    const driver = memoryDriver()
    let lines = 0
    const counted: LogDriver = {
      ...driver,
      read: async (sessionId, after) => {
        const read = await driver.read(sessionId, after)
        lines += read?.length ?? 0
        return read
      },
    }
    return { store: logSessionStore(counted), lines: () => lines }
  }

  it('reads as few lines as for a short session', async () => {
    const costs: number[][] = []
    for (const prompts of [25, 1000]) {
      const { store, lines } = counting()
      const agent = new Agent({ model, tools: [ask], sessionId: 's', session: store })
      for (let at = 0; at < prompts; at++) await agent.prompt('hello').result
      await agent.prompt('ask').result
      await agent.close()
      const read = async (path: string) => {
        const before = lines()
        const { body } = await readerOf(store)(path)
        expect(body.approvals).toMatchObject([{ toolName: 'ask' }])
        return lines() - before
      }
      const ofHistory = [await read('/history?limit=50'), await read('/approvals')]
      const before = lines()
      expect((await readerOf(store)('/loops?limit=20')).body.loops).toHaveLength(20)
      costs.push([...ofHistory, lines() - before])
    }
    const [short, long] = costs
    for (const [at, cost] of (long ?? []).entries()) expect(cost).toBeLessThanOrEqual(2 * (short?.[at] ?? 0))
  })

  it('rejects an invalid page limit or cursor', async () => {
    const store = memorySessionStore()
    await sessionOfSteps(store, [{ say: 'hello' }], false)
    const read = readerOf(store)
    const codes = ['limit=0', 'limit=201', 'limit=x', 'before=none', 'limit=5&after=x'].map(async (query) => {
      const { status, body } = await read(`/history?${query}`)
      return [status, body.code]
    })
    expect((await read('/loops?before=none')).body).toMatchObject({ status: 400, code: 'invalidCursor' })
    expect(await Promise.all(codes)).toEqual([...Array(3).fill([400, 'invalidBody']), [400, 'invalidCursor'], [400, 'invalidCursor']])
  })
})
