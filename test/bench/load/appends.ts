import { open } from 'node:fs/promises'
import type { SqlPool } from '../../../adapters/postgres/index.ts'
import type { SessionStore } from '../../../src/index.ts'
import type { SessionWriter } from '../../../src/session.ts'
import type { NewSessionRecord } from '../../../src/types/session/session-store.ts'

/** Keeps a text with nothing around it. */
export interface BareStore {
  append(text: string): Promise<void>
  close(): Promise<void>
}

export function bareMemory(): BareStore {
  const kept: string[] = []
  return { append: async (text) => void kept.push(text), close: async () => undefined }
}

export async function bareFiles(path: string): Promise<BareStore> {
  const handle = await open(path, 'a')
  const append = async (text: string) => {
    await handle.appendFile(text)
    await handle.datasync()
  }
  return { append, close: () => handle.close() }
}

/** Rows of the same form and key, and one index: what any table of records would have. */
export async function barePostgres(pool: SqlPool): Promise<BareStore> {
  await pool.query(
    'CREATE TABLE bare (tenant text NOT NULL, session_id text NOT NULL, epoch bigint NOT NULL, seq bigint NOT NULL, line text NOT NULL, PRIMARY KEY (tenant, session_id, epoch, seq))',
  )
  let seq = 0
  const append = async (text: string) =>
    void (await pool.query('INSERT INTO bare VALUES ($1, $2, $3, $4, $5)', ['', 'bare', 1, ++seq, text]))
  return { append, close: async () => undefined }
}

/** What single appends cost, ms, and how many there are in a second. */
export interface AppendCosts {
  ours: number[]
  barest: number[]
  /** Of sixteen sessions at once. */
  perSecond: number
  /** Sessions begun, with their first record. */
  begun: number
}

const samples = 600
const atOnce = 16
const text = 'The rain in Oslo, as ever; naïve "quotes" and 雨.\n'.repeat(19)

function record(at: number): NewSessionRecord {
  const content = [{ type: 'text' as const, text }]
  return { loopId: 'load.m.1', turnIndex: 0, entry: { type: 'input', message: { role: 'user', id: `m${at}`, content, timestamp: at } } }
}

/** Appends to a store and to the bare thing by turns, one by one, so that what else the machine does falls on both. */
export async function appendCosts(store: SessionStore, bare: BareStore): Promise<AppendCosts> {
  const writer = await begun(store, 'one')
  const line = JSON.stringify(record(0)).padEnd(1100)
  const [ours, barest]: [number[], number[]] = [[], []]
  let at = 0
  for (let sample = -50; sample < samples; sample++) {
    const [one, other] = [await msOf(() => writer.append([record(++at)])), await msOf(() => bare.append(line))]
    // The first ones compile.
    if (sample < 0) continue
    ours.push(one)
    barest.push(other)
  }
  await Promise.all([writer.close(), bare.close()])
  const writers = await Promise.all(Array.from({ length: atOnce }, (_, each) => begun(store, `some-${each}`)))
  const perSecond = await rateOf(async (lane) => writers[lane]?.append([record(++at)]))
  await Promise.all(writers.map((each) => each.close()))
  const rate = await rateOf(async () => (await begun(store, `begun-${++at}`)).close())
  return { ours, barest, perSecond, begun: rate }
}

async function begun(store: SessionStore, sessionId: string): Promise<SessionWriter> {
  const writer = await store.open(sessionId, { agentId: 'load' })
  await writer.append([{ entry: { type: 'sessionStart', agentId: 'load', formation: { type: 'firstLoop', at: 0 }, scope: 'persistent' } }])
  return writer
}

async function msOf(act: () => Promise<void>): Promise<number> {
  const from = performance.now()
  await act()
  return performance.now() - from
}

/** How often per second `act` is done, by sixteen who each do it again and again for half a second. */
async function rateOf(act: (lane: number) => Promise<unknown>): Promise<number> {
  const from = performance.now()
  let done = 0
  const lane = async (each: number) => {
    while (performance.now() - from < 500) {
      await act(each)
      done += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, each) => lane(each)))
  return (done * 1000) / (performance.now() - from)
}
