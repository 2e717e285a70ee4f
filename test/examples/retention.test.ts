import { expect, it } from 'vitest'
import { forget, pruneOld } from '../../examples/recipes/sessions/retention.ts'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { importSession, scopedSessionStore } from '../../src/session.ts'

it("prunes only old sessions, exports a user's data and deletes it", async () => {
  const store = memorySessionStore()
  for (const person of ['ada', 'bob']) {
    const agent = new Agent({ model: scripted([{ text: 'Hello.' }]), session: scopedSessionStore(store, person), sessionId: 'diary' })
    await agent.prompt(`I am ${person}.`).result
    await agent.close()
  }
  const logged: string[] = []
  const audit = { warn: () => undefined, info: (event: string) => void logged.push(event) }
  expect(await pruneOld(store, audit)).toEqual({ deleted: 0, kept: 2, failed: [] })
  const files = new Map<string, string>()
  const keep = async (name: string, line: string) => void files.set(name, (files.get(name) ?? '') + line)
  expect(await forget(store, 'ada', audit, keep)).toMatchObject({ deleted: 1, failed: [] })
  expect(logged).toEqual(['sessionExported', 'sessionDeleted'])
  expect([...files.keys()]).toEqual(['diary.jsonl'])
  await importSession(store, files.get('diary.jsonl') ?? '', { sessionId: 'again' })
  expect(JSON.stringify(await store.load('again'))).toContain('I am ada.')
  expect(await scopedSessionStore(store, 'bob').listIds()).toEqual(['diary'])
})
