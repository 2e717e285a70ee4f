import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { seededRandom } from '../../../testing/fault-fetch.ts'
import { patient } from '../../support/patience.ts'
import { runs } from '../../support/runs.ts'
import { allFrames, type Frame, frames } from './read-sse.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"Go."}' }

/** Sessions of a model that says these pieces. */
function hosted(pieces: readonly string[], gate?: () => Promise<void>) {
  const model = scripted(() => ({ text: pieces }), gate === undefined ? {} : { gate })
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }) })
  const app = createAgentApp({ sessions, authorize: () => true })
  return { app, sessions }
}

const textOf = (seen: Frame[]): string => seen.map(({ event, data }) => (event === 'messageUpdate' ? data.delta.delta : '')).join('')

it('streams one run over 1,000 successive connections without lost or duplicate events', async () => {
  const random = seededRandom(3)
  const pieces = Array.from({ length: 6000 }, (_, at) => `${at} `)
  let left = 0
  // The run is never far ahead of its readers, and they are never all there is.
  const { app, sessions } = hosted(pieces, () => (left++ % 8 === 0 ? new Promise((resolve) => setImmediate(resolve)) : Promise.resolve()))
  let response = await app.request('/sessions/s/runs', post)
  const seen: Frame[] = []
  let connections = 1
  for (;;) {
    const count = 1 + Math.floor(random() * 7)
    let read = 0
    for await (const frame of frames(response)) {
      seen.push(frame)
      if (++read === count && connections < 1000) break
    }
    const last = seen.at(-1)
    if (last?.event === 'agentEnd') break
    connections += 1
    const path = `/sessions/s/runs/${encodeURIComponent(last?.data.loopId)}/events`
    response = await app.request(path, { headers: { 'last-event-id': String(last?.id) } })
  }
  expect(connections).toBe(1000)
  expect(textOf(seen)).toBe(pieces.join(''))
  expect(seen.filter(({ id = 0 }, at) => id <= (seen[at - 1]?.id ?? 0))).toEqual([])
  await sessions.close()
})

it('bounds the memory of a reader that stalls during 200,000 deltas', async () => {
  const pieces = Array.from({ length: 200_000 }, () => 'a piece of text, ')
  const { app, sessions } = hosted(pieces)
  const response = await app.request('/sessions/s/runs', post)
  const reader = frames(response)
  const first = (await reader.next()).value
  collect()
  const before = process.memoryUsage()
  await vi.waitFor(async () => {
    const { runningLoopId, session } = await (await app.request('/sessions/s')).json()
    expect([runningLoopId, session.loops[0].status]).toEqual([undefined, 'completed'])
  }, patient)
  collect()
  const after = process.memoryUsage()
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers
  const rest: Frame[] = [first]
  for await (const frame of reader) rest.push(frame)
  console.log(`a reader that stalled: ${(grown / 2 ** 20).toFixed(1)} MiB held, ${rest.length} frames for 200,000 deltas`)
  // The text itself has 3.4 MB; 200,000 events of their own would have more than 60.
  expect(grown).toBeLessThan(24 << 20)
  expect(rest.length).toBeLessThan(100_000)
  expect(textOf(rest)).toBe(pieces.join(''))
  expect(rest.at(-1)?.event).toBe('agentEnd')
  await sessions.close()
})

const atOnce = runs(100, 200)

it(`serves ${atOnce} concurrent clients a complete run each`, async () => {
  const pieces = Array.from({ length: 100 }, (_, at) => `${at} `)
  const { app, sessions } = hosted(pieces, () => new Promise((resolve) => setImmediate(resolve)))
  const answers = await Promise.all(Array.from({ length: atOnce }, (_, at) => app.request(`/sessions/s${at}/runs`, post)))
  const said = await Promise.all(answers.map(async (answer) => textOf(await allFrames(answer))))
  expect(new Set(said)).toEqual(new Set([pieces.join('')]))
  await sessions.close()
})
