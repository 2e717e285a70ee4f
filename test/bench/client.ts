// node test/bench/client.ts: CPU time of a run that `remoteSession` reads, as a ratio to the bare parse of the same bytes, in the same run.

import { eventEncoder, remoteSession } from '../../src/client.ts'
import { Agent, type AgentEvent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { createSseDecoder } from '../../src/stream/sse.ts'

const samples = 15
const chunkBytes = 16 * 1024
const text = Array.from({ length: 20_000 }, (_, index) => `word${index % 97} `)

async function bytesOfRun(): Promise<{ chunks: Uint8Array[]; events: number }> {
  const frames: string[] = []
  const run = new Agent({ model: scripted([{ text }]) }).prompt('Go.')
  const encoder = eventEncoder()
  run.subscribe((event: AgentEvent) => frames.push(encoder.sse(event)))
  await run.result
  const bytes = new TextEncoder().encode(frames.join(''))
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes))
  return { chunks, events: frames.length }
}

const { chunks, events } = await bytesOfRun()
const bodyOf = () => {
  let at = 0
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks[at++]
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
  })
}

async function bare(): Promise<void> {
  let seen = 0
  const decoder = createSseDecoder((data) => {
    if (typeof JSON.parse(data) === 'object') seen += 1
  })
  const reader = bodyOf().getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) decoder.feed(next.value)
  if (seen !== events) throw new Error(`${seen} of ${events} events`)
}

async function client(isRead: boolean): Promise<void> {
  const fetch = () => new Response(bodyOf(), { headers: { 'content-type': 'text/event-stream' } })
  const session = remoteSession({ url: 'http://localhost', sessionId: 's', fetch })
  const run = session.prompt('Go.')
  if (isRead) for await (const _event of run);
  const { status } = await run.result
  if (status !== 'completed') throw new Error(status)
  session.close()
}

async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const rows = { bare, 'client, nobody reads': () => client(false), 'client, one iterates': () => client(true) }
const times = new Map(Object.keys(rows).map((name) => [name, [] as number[]]))
for (let sample = -3; sample < samples; sample++) {
  for (const [name, work] of Object.entries(rows)) {
    const ms = await cpuMs(work)
    if (sample >= 0) times.get(name)?.push(ms)
  }
}
const median = (values: number[] = []) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
for (const name of Object.keys(rows)) {
  const ms = median(times.get(name))
  console.log(`${name}: ${((ms * 1000) / events).toFixed(2)} µs per event, ${(ms / median(times.get('bare'))).toFixed(2)} ×`)
}
