// npm run bench:sessions: what it takes to store one more turn of a long session, as a ratio to the same turn of a short one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileSessionStore } from '../../adapters/node/session/file-session-store.ts'
import { emptyUsage, type NewSessionRecord, type SessionStore, type SessionWriter } from '../../src/index.ts'
import { memorySessionStore } from '../../src/session/index.ts'

const turns = { short: 10, long: 2000 }
const goal = 1.2
const samples = 301
const answer = 'The rain in Oslo, as ever; naïve "quotes" and 雨.\n'.repeat(150)

/** What a turn with one call leaves: about 8 KiB. */
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

async function appendMs(writer: SessionWriter, index: number): Promise<number> {
  const records = turn(index)
  const start = performance.now()
  await writer.append(records)
  return performance.now() - start
}

const quantile = (list: number[], share: number) => list.toSorted((a, b) => a - b)[Math.floor(list.length * share)] ?? 0

/** By turns, so that what else the machine does falls on both. */
async function measure(name: string, store: SessionStore) {
  const short = await sessionOf(store, 'short', turns.short)
  const long = await sessionOf(store, 'long', turns.long)
  const times = { short: [] as number[], long: [] as number[] }
  for (let index = 0; index < samples; index += 1) {
    times.short.push(await appendMs(short, turns.short + index))
    times.long.push(await appendMs(long, turns.long + index))
  }
  await Promise.all([short.close(), long.close()])
  const ratio = quantile(times.long, 0.5) / quantile(times.short, 0.5)
  return {
    store: name,
    [`turn ${turns.short}, ms`]: quantile(times.short, 0.5).toFixed(3),
    [`turn ${turns.long}, ms`]: quantile(times.long, 0.5).toFixed(3),
    'p99, ms': quantile(times.long, 0.99).toFixed(3),
    ratio: ratio.toFixed(2),
    goal: `≤ ${goal}`,
    met: ratio <= goal,
  }
}

const directory = mkdtempSync(join(tmpdir(), 'phi-bench-'))
try {
  console.table([await measure('memory', memorySessionStore()), await measure('file', fileSessionStore(directory))])
} finally {
  rmSync(directory, { recursive: true, force: true })
}
