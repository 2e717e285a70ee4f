import { afterAll, expect, it } from 'vitest'
import { seededRandom } from '../../../../testing/fault-fetch.ts'
import { runs } from '../../../support/runs.ts'
import { killableWorker } from '../../../workers/killable-worker.ts'
import { type Frame, frames } from '../../http/read-sse.ts'
import { lastAcknowledged } from './last-acknowledged.ts'
import { LiveClient } from './live-client.ts'

const kills = runs(8, 500)

const writers = await killableWorker('test/workers/kill-target.ts', { SESSIONS: 'SessionObject', INDEX: 'IndexObject' })
const live = await killableWorker('test/workers/live-worker.ts', {
  SESSIONS: 'Conversation',
  INDEX: 'IndexObject',
  FEW: 'FewConversations',
})
afterAll(() => Promise.all([writers.close(), live.close()]))

interface Found {
  notes: { seq: number; says: number; isWhole: boolean }[]
}

it(`loses no acknowledged record when workerd is killed ${kills} times`, async () => {
  const random = seededRandom(5)
  const acknowledged = new Map<string, number>()
  let url = await writers.start()
  for (let kill = 0; kill < kills; kill++) {
    // Some sessions at a time, and new ones now and then: what is checked after each kill stays small.
    const sessionId = `s${Math.floor(kill / 20)}-${kill % 4}`
    const response = await fetch(`${url}/write?session=${sessionId}`)
    acknowledged.set(sessionId, await lastAcknowledged(response, 1 + Math.floor(random() * 12)))
    await writers.kill()
    url = await writers.start()
    const found: Found = await (await fetch(`${url}/read?session=${sessionId}`)).json()
    const numbers = found.notes.map(({ seq }) => seq)
    expect(numbers).toEqual(Array.from(numbers, (_, index) => index + 1))
    expect(found.notes.filter(({ seq, says, isWhole }) => seq !== says || !isWhole)).toEqual([])
    expect(numbers.length).toBeGreaterThanOrEqual(acknowledged.get(sessionId) ?? 0)
    const listed: string[] = await (await fetch(`${url}/list`)).json()
    expect(listed.toSorted()).toEqual([...acknowledged.keys()].toSorted())
  }
  console.log(`${kills} kills, ${[...acknowledged.values()].reduce((sum, count) => sum + count, 0)} acknowledged records, none lost`)
})

it('completes a live run although workerd is killed repeatedly', async () => {
  const random = seededRandom(7)
  let client = new LiveClient(await live.start(), 'turns')
  const seen = new Set<string>()
  let response = await client.prompt()
  for (let kill = 0; kill < 4; kill++) {
    const before = await readSome(response, 3 + Math.floor(random() * 12))
    await live.kill()
    client = client.at(await live.start())
    const stored = (await client.records()).map(({ entry }) => ('message' in entry ? entry.message.id : ''))
    // A finished message is shown when it is stored, not before.
    for (const { event, data } of before) if (event === 'messageEnd') seen.add(data.messageId)
    expect([...seen].filter((id) => !stored.includes(id))).toEqual([])
    const { runningLoopId } = await (await client.ask('/')).json()
    if (runningLoopId === undefined) break
    response = await client.events(runningLoopId)
  }
  expect(await client.ends()).toMatchObject([{ status: 'completed' }])
  const loops = (await client.records()).filter(({ entry }) => entry.type === 'loopStart').length
  console.log(`a live run took ${loops} attempts`)
  expect(loops).toBeGreaterThan(1)
  const intents = (await client.records()).flatMap(({ entry }) => (entry.type === 'toolIntent' ? [entry.toolCallId] : []))
  expect(new Set(intents).size).toBe(intents.length)
})

/** The next frames, as many as come; the stream goes on. */
async function readSome(response: Response, count: number): Promise<Frame[]> {
  const some: Frame[] = []
  const all = frames(response)
  while (some.length < count) {
    const { value, done } = await all.next()
    if (done) break
    some.push(value)
  }
  return some
}
