// npm run bench smooth-text: notifications and CPU time of a store for 20,000 deltas that arrive in bursts, with and without `smooth`, in the same run.

import { setTimeout as sleep } from 'node:timers/promises'
import { emptyUsage } from '../../src/context.ts'
import type { AgentEvent } from '../../src/index.ts'
import { createStore, type StoreOptions, smoothText } from '../../src/store.ts'
import { quantile } from './task.ts'

const deltas = 20_000
const burst = 200
const burstMs = 20
const rounds = 5
const words = ['the ', 'rain', ' in ', 'Oslo', ', as ', 'ever', ';\n', 'naïve ', '"quoted" ', '雨 ']
const base = { runId: 'r', sessionId: 's', loopId: 's.demo.1' }
const message = { role: 'assistant', model: 'm', provider: 'p', usage: emptyUsage(), stopReason: 'stop', timestamp: 1, id: 'm' } as const

/** A frame of a browser, for Node. */
const frame = (flush: () => void) => void setTimeout(flush, 16)

const sides: Record<string, StoreOptions> = {
  'as it arrives': {},
  'once per frame': { schedule: frame },
  "smoothText('word')": { smooth: smoothText('word') },
  "smoothText('line')": { smooth: smoothText('line') },
}

function event(seq: number): AgentEvent {
  const at = Date.now()
  if (seq === 1) return { type: 'messageStart', messageId: 'm', message: { ...message, content: [] }, ...base, seq, at }
  const delta = `${words[seq % words.length]}${seq % 97}`
  return { type: 'messageUpdate', messageId: 'm', delta: { type: 'text', contentIndex: 0, delta }, ...base, seq, at }
}

interface Sample {
  cpuMs: number
  notifications: number
  seconds: number
}

async function measure(options: StoreOptions): Promise<Sample> {
  const store = createStore(undefined, options)
  let notifications = 0
  let last = 0
  const stop = store.subscribe(() => {
    notifications += 1
    const block = store.getSnapshot().live?.blocks[0]
    // Makes one string of its pieces, as a page does that shows it.
    if (block?.type === 'text') last += block.text.charCodeAt(block.text.length - 1)
  })
  const begun = performance.now()
  const before = process.cpuUsage()
  for (let seq = 1; seq <= deltas; seq++) {
    store.dispatch(event(seq))
    // Events of a stream arrive in microtasks of their own.
    await undefined
    await undefined
    if (seq % burst === 0) await sleep(burstMs)
  }
  await sleep(300)
  const { user, system } = process.cpuUsage(before)
  stop()
  if (last === 0) throw new Error('Nothing was shown.')
  return { cpuMs: (user + system) / 1000, notifications, seconds: (performance.now() - begun) / 1000 }
}

const samples = new Map(Object.keys(sides).map((name) => [name, [] as Sample[]]))
for (let round = 0; round <= rounds; round += 1) {
  for (const [name, options] of Object.entries(sides)) {
    const sample = await measure(options)
    // The first one compiles.
    if (round > 0) samples.get(name)?.push(sample)
  }
}

const cpuOf = (list: readonly Sample[] = []): number => quantile(list.map(({ cpuMs }) => cpuMs))
const bare = cpuOf(samples.get('as it arrives'))
console.table(
  Array.from(samples, ([name, list]) => ({
    text: name,
    'notifications per second': quantile(list.map(({ notifications, seconds }) => notifications / seconds)).toFixed(0),
    'CPU ms': cpuOf(list).toFixed(0),
    'CPU ratio': (cpuOf(list) / bare).toFixed(2),
  })),
)
