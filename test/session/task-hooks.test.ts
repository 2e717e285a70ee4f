import { expect, it } from 'vitest'
import { Agent, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { type TaskHooks, withTaskHooks } from '../../src/session.ts'

const model = scripted(() => ({ text: 'Hello.' }))

/** A store, and what its hooks were told. */
function told(more: TaskHooks = {}) {
  const heard: string[] = []
  const tell = (what: string) => (session: { sessionId: string; loops: { status: string }[] }) =>
    heard.push(`${what} ${session.sessionId} ${session.loops.map(({ status }) => status).join()}`)
  return { heard, store: withTaskHooks(memorySessionStore(), { beforeTask: tell('before'), afterTask: tell('after'), ...more }) }
}

it('calls beforeTask once per session and afterTask on each close', async () => {
  const { heard, store } = told()
  const agent = new Agent({ model, session: store, sessionId: 's1' })
  await agent.prompt('Hi.').result
  await agent.prompt('Hi again.').result
  expect(heard).toEqual(['before s1 running'])
  await agent.close()
  await agent.close()
  expect(heard.slice(1)).toEqual(['after s1 completed,completed'])
  const resumed = await resumeAgent(store, 's1', { model })
  await resumed.prompt('Once more.').result
  await resumed.close()
  expect(heard.slice(2)).toEqual(['after s1 completed,completed,completed'])
})

it('reports only sessions with messages', async () => {
  const { heard, store } = told()
  const agent = new Agent({ model, session: store, sessionId: 's1' })
  await agent.prompt('Hi.').result
  const s2 = agent.newSession()
  await agent.prompt('Hi.').result
  await agent.close()
  await new Agent({ model, session: store, sessionId: 's3' }).close()
  expect(heard.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(['before s1', `before ${s2}`, 'after s1', `after ${s2}`])
  expect(await store.listIds()).toEqual([s2, 's1'])
})

it('ends a run before its request if beforeTask throws', async () => {
  let asked = 0
  const { store } = told({
    beforeTask: () => {
      throw new Error('No account is open.')
    },
  })
  const silent = scripted(() => {
    asked++
    return { text: 'Hello.' }
  })
  const agent = new Agent({ model: silent, session: store })
  const result = await agent.prompt('Hi.').result
  expect([result.status, result.error?.code, asked]).toEqual(['error', 'journal', 0])
  expect(result.error?.message).toContain('No account is open.')
})
