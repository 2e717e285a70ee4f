import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { fileDriver } from '../../../adapters/node/session/file-driver.ts'
import { nodeFileOperations } from '../../../adapters/node/session/file-operations.ts'
import { memorySessionStore, type SessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { type LogDriver, logSessionStore, memoryDriver, type SessionRecord } from '../../../src/session.ts'
import { runs } from '../../support/runs.ts'
import { temporaryRoot } from '../node/temporary.ts'

const agentId = 'agent'
const leftOnes = ['left-0', 'left-1', 'left-2']
const done = scripted(() => ({ text: 'Done.' }))

/** What stands in the log of a run that has ended, and in that of one whose process is gone. */
async function samples() {
  const store = memorySessionStore()
  let asked = (): void => undefined
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  const model = scripted(() => ({ text: 'Never.' }), {
    gate: () => {
      asked()
      return new Promise<never>(() => undefined)
    },
  })
  const sessions = memoryLiveSessions({ store, agent: ({ sessionId }) => ({ model: sessionId === 'left' ? model : done }) })
  const app = createAgentApp({ sessions, authorize: () => true })
  for (const id of ['ended', 'left']) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"Go."}' }
    const answer = await app.request(`/sessions/${id}/runs`, init)
    if (id === 'ended') await answer.text()
  }
  await isAsked
  await sessions.drain({ deadlineMs: 0 })
  return { ended: (await store.tail('ended')).records, left: (await store.tail('left')).records }
}

async function write(store: SessionStore, sessionId: string, records: readonly SessionRecord[]): Promise<void> {
  const writer = await store.open(sessionId, { agentId })
  await writer.append(records.map(({ epoch: _, seq: __, ...record }) => record))
  await writer.close()
}

/** Thousands of sessions in which nothing is left to do, and three runs that were left, somewhere among them. */
async function fill(store: SessionStore, many: number): Promise<void> {
  const { ended, left } = await samples()
  const places = new Map([7, many / 2, many - 1].map((at, number) => [at, `left-${number}`]))
  for (let at = 0; at < many; at++) {
    const name = places.get(at)
    await write(store, name ?? `s${at}`, name === undefined ? ended : left)
  }
}

/** Takes up what was left, in another process. Resolves with how many runs are on again, and with the sessions that have ended so. */
async function recover(store: SessionStore) {
  const sessions = memoryLiveSessions({ store, agent: () => ({ model: done }), logger: false })
  const app = createAgentApp({ sessions, authorize: () => true })
  const begun = await sessions.recover()
  const statuses = async () => {
    const answers = await Promise.all(leftOnes.map((id) => app.request(`/sessions/${id}`)))
    const read: { session: { loops: { status: string }[] } }[] = await Promise.all(answers.map((answer) => answer.json()))
    return read.map(({ session }) => session.loops.at(-1)?.status)
  }
  await expect.poll(statuses).toEqual(['completed', 'completed', 'completed'])
  await sessions.close()
  return begun
}

const inMemory = runs(1000, 5000)

it(`takes over three runs among ${inMemory} sessions in memory without reading the others`, async () => {
  const driver = memoryDriver()
  let given = 0
  const list: LogDriver['list'] = async (query) => {
    const found = await driver.list(query)
    given += found.length
    return found
  }
  const store = logSessionStore({ ...driver, list })
  await fill(store, inMemory)
  expect([await recover(store), given]).toEqual([3, 3])
  expect([await memoryLiveSessions({ store, agent: () => ({ model: scripted([]) }) }).recover(), given]).toEqual([0, 3])
})

const inFiles = runs(500, 2000)

it(`takes over three runs among ${inFiles} session files and reads only recent ones`, async () => {
  const { root } = temporaryRoot()
  const operations = nodeFileOperations()
  const looks = new Set<string>()
  let bytes = 0
  const quick = { ...operations, sync: async () => undefined, syncDirectory: async () => undefined }
  const watched = {
    ...quick,
    list: (directory: string) => {
      if (dirname(directory) === root && !directory.includes('/.')) looks.add(directory.slice(root.length + 1))
      return operations.list(directory)
    },
    read: async (...args: Parameters<typeof operations.read>) => {
      const text = await operations.read(...args)
      bytes += text.length
      return text
    },
  }
  /** A store as another process has it. */
  const another = () => logSessionStore(fileDriver(root, watched))
  await fill(logSessionStore(fileDriver(root, quick)), inFiles)
  // Whoever looks first looks at all, and says what it has seen.
  expect((await another().list({ status: 'running' })).sessions.map(({ sessionId }) => sessionId)).toEqual(leftOnes.toReversed())
  expect(looks.size).toBe(inFiles)
  looks.clear()
  bytes = 0
  expect(await recover(another())).toBe(3)
  expect([...looks].toSorted()).toEqual(leftOnes)
  // The index says of a session where it ends; that and what belongs to the three.
  expect(bytes / inFiles).toBeLessThan(120)
  looks.clear()
  await write(another(), 's8', (await samples()).left)
  expect((await another().list({ status: 'running' })).sessions.map(({ sessionId }) => sessionId)).toEqual(['s8'])
  expect([...looks].toSorted()).toEqual([...leftOnes, 's8'])
})
