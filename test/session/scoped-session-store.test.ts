import { describe, expect, it } from 'vitest'
import { memorySessionStore } from '../../src/index.ts'
import { exportSession, importSession, scopedSessionStore } from '../../src/session.ts'
import { note, sampleSession } from '../../testing/session-store/session-samples.ts'

describe('scopedSessionStore', () => {
  it("lists the owner's sessions page by page", async () => {
    const store = memorySessionStore()
    for (const owner of ['ada', 'bob'])
      for (const id of ['s1', 's2', 's3']) await (await scopedSessionStore(store, owner).open(id, { agentId: 'a' })).append([note(id)])
    const ofAda = scopedSessionStore(store, 'ada')
    const { sessions: newest, nextCursor = '' } = await ofAda.list({ limit: 2 })
    expect(newest.map(({ sessionId }) => sessionId)).toEqual(['s3', 's2'])
    const rest = await ofAda.list({ limit: 2, cursor: nextCursor })
    expect(rest.sessions.map(({ sessionId }) => sessionId)).toEqual(['s1'])
    expect(rest).not.toHaveProperty('nextCursor')
  })

  it('uses the unowned scope if there is no owner', async () => {
    const store = memorySessionStore()
    await store.save(sampleSession('open'))
    await scopedSessionStore(store, 'ada').save(sampleSession('s1'))
    const ofNobody = scopedSessionStore(store)
    expect(await ofNobody.listIds()).toEqual(['open'])
    expect((await ofNobody.load('open')).sessionId).toBe('open')
    await ofNobody.save(sampleSession('another'))
    expect((await store.load('another')).sessionId).toBe('another')
    const [idOfAda = ''] = (await store.listIds()).filter((id) => id.endsWith('.s1'))
    await expect(ofNobody.load(idOfAda)).rejects.toMatchObject({ code: 'invalidId' })
  })

  it('assigns an imported session to the owner', async () => {
    const store = memorySessionStore()
    const [ofAda, ofBob] = [scopedSessionStore(store, 'ada'), scopedSessionStore(store, 'bob')]
    await ofAda.save(sampleSession('s1'))
    await importSession(ofBob, await exportSession(ofAda, 's1'))
    const owners = async () => (await store.list()).sessions.map(({ owner }) => owner).sort()
    expect(await owners()).toEqual(['ada', 'bob'])
    expect(await ofBob.listIds()).toEqual(['s1'])
    await ofAda.delete('s1')
    expect(await owners()).toEqual(['bob'])
  })
})
