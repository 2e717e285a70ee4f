// npm run bench http: what the SSE path costs per event as a ratio to writing the same bytes bare, and the memory of open streams and idle sessions.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
const samples = 7
const deltas = 100_000
const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"Go."}' }
const pieces = Array.from({ length: deltas }, (_, at) => ['the ', 'rain ', 'in ', 'Oslo, ', '雨 '][at % 5] ?? '')
const encoder = new TextEncoder()
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** CPU in ms of what `act` does. */
async function cpuOf(act: () => Promise<unknown>): Promise<number> {
  collect()
  const from = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1000
}

function appOf(text: readonly string[], gate?: () => Promise<void>) {
  const agent = () => ({ model: scripted(() => ({ text }), gate === undefined ? {} : { gate }), replayBytes: 256 << 20 })
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent, maxSessions: 5000 })
  return { sessions, app: createAgentApp({ sessions, authorize: () => true, maxOpenStreams: 5000 }) }
}

/** The chunks of an answer, read to its end. */
async function chunksOf(response: Response): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body ?? []) chunks.push(chunk)
  return chunks
}

/** The same frames, encoded and handed over one by one, with nothing else around them. */
function bare(frames: readonly string[]): Response {
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const frame = frames[at++]
      if (frame === undefined) controller.close()
      else controller.enqueue(encoder.encode(frame))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

// A run that has ended is read from its log: the SSE path and nothing of the loop.
const { app, sessions } = appOf(pieces)
const first = await chunksOf(await app.request('/sessions/s/runs', post))
const { session } = await (await app.request('/sessions/s')).json()
const path = `/sessions/s/runs/${encodeURIComponent(session.loops[0].loopId)}/events`
const sent = await chunksOf(await app.request(path))
// One frame per event: events that are there already leave the app as one piece.
const texts = new TextDecoder().decode(await new Blob(sent as BlobPart[]).arrayBuffer()).split(/(?<=\n\n)/)
const bytes = texts.reduce((sum, text) => sum + encoder.encode(text).length, 0)
const [ours, barest, live]: [number[], number[], number[]] = [[], [], []]
for (let n = 0; n < samples; n++) {
  ours.push(await cpuOf(async () => chunksOf(await app.request(path))))
  barest.push(await cpuOf(() => chunksOf(bare(texts))))
  live.push(await cpuOf(async () => chunksOf(await app.request(`/sessions/live${n}/runs`, post))))
}
await sessions.close()
const perEvent = (ms: number): string => `${((ms / texts.length) * 1000).toFixed(2)} µs`
const ratio = median(ours.map((each, at) => each / (barest[at] ?? 1)))
console.log(
  `${texts.length} frames of ${(bytes / texts.length).toFixed(0)} bytes, in ${sent.length} pieces (while the run was on: ${first.length})`,
)
console.log(`CPU per event: ${perEvent(median(ours))}; the same bytes bare ${perEvent(median(barest))}; ratio ${ratio.toFixed(2)} (goal 2)`)
console.log(`with the model, the loop and the session's log: ${((median(live) / deltas) * 1000).toFixed(2)} µs per delta`)

/** Bytes of heap that each of `count` needs. */
async function memoryOf(count: number, make: (at: number) => Promise<unknown>): Promise<number> {
  collect()
  const before = process.memoryUsage()
  const held: unknown[] = []
  for (let at = 0; at < count; at++) held.push(await make(at))
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  const after = process.memoryUsage()
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers
  return held.length === count ? grown / count : 0
}

const small = Array.from({ length: 20 }, () => 'word ')
const idle = appOf(small)
const perSession = await memoryOf(500, async (at) => void (await chunksOf(await idle.app.request(`/sessions/s${at}/runs`, post))))
await idle.sessions.close()
let open = (): void => undefined
const opened = new Promise<void>((resolve) => {
  open = resolve
})
const waiting = appOf(small, () => opened)
const run = await waiting.app.request('/sessions/s/runs', post)
let runningLoopId: string | undefined
// Its run is on before it is in the store.
while (runningLoopId === undefined) ({ runningLoopId } = await (await waiting.app.request('/sessions/s')).json())
const readers: ReadableStreamDefaultReader<Uint8Array>[] = []
const openOne = async () => {
  const reader = (await waiting.app.request(`/sessions/s/runs/${encodeURIComponent(runningLoopId)}/events`)).body?.getReader()
  await reader?.read()
  if (reader !== undefined) readers.push(reader)
}
// What the first ones compile and allocate for all is not theirs.
await memoryOf(200, openOne)
const perStream = await memoryOf(1000, openOne)
open()
await run.body?.cancel()
for (const reader of readers) await reader.cancel()
await waiting.sessions.close()
console.log(
  `memory: ${(perSession / 1024).toFixed(1)} KiB per idle session of one short run, ${(perStream / 1024).toFixed(1)} KiB per open stream`,
)
