import { emptyUsage } from '../../../src/context.ts'
import type { SessionStore } from '../../../src/index.ts'
import type { SessionWriter } from '../../../src/session.ts'
import type { NewSessionRecord } from '../../../src/types/session/session-store.ts'

/** What one more turn costs, in ms: medians of the means of ten, because the clock of a Worker knows whole ms only. */
export interface AppendCost {
  /** After turn 10. */
  short: number
  /** After turn 2,000. */
  long: number
  /** The slowest ten after turn 2,000. */
  slowest: number
}

const turns = { short: 10, long: 2000 }
const samples = 61
const perSample = 10
const answer = 'The rain in Oslo, as ever; naïve "quotes" and 雨.\n'.repeat(150)

/** Stores turns in a long session and in a short one, by turns, so that what else the machine does falls on both. Runs anywhere. */
export async function appendCost(store: SessionStore): Promise<AppendCost> {
  const short = await sessionOf(store, 'short', turns.short)
  const long = await sessionOf(store, 'long', turns.long)
  const times = { short: [] as number[], long: [] as number[] }
  for (let sample = 0; sample < samples; sample += 1) {
    const done = sample * perSample
    times.short.push(await appendMs(short, turns.short + done))
    times.long.push(await appendMs(long, turns.long + done))
  }
  await Promise.all([short.close(), long.close()])
  return { short: median(times.short), long: median(times.long), slowest: Math.max(...times.long) }
}

/** What a turn leaves: about 8 KiB. */
function turn(index: number): NewSessionRecord[] {
  const place = { loopId: 'bench.m.1', turnIndex: index }
  const base = { id: `m${index}`, timestamp: index, model: 'm', provider: 'p', usage: emptyUsage() }
  return [
    { ...place, entry: { type: 'turnStart', triggeredBy: 'continuation' } },
    {
      ...place,
      entry: { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: answer }], stopReason: 'stop', ...base } },
    },
  ]
}

async function sessionOf(store: SessionStore, sessionId: string, length: number): Promise<SessionWriter> {
  const writer = await store.open(sessionId, { agentId: 'bench' })
  for (let index = 0; index < length; index += 1) await writer.append(turn(index))
  return writer
}

async function appendMs(writer: SessionWriter, from: number): Promise<number> {
  const added = Array.from({ length: perSample }, (_, index) => turn(from + index))
  const start = performance.now()
  for (const records of added) await writer.append(records)
  return (performance.now() - start) / perSample
}

const median = (list: number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0
