// npm run bench sessions: what it takes to store one more turn of a long session, as a ratio to the same turn of a short one.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { chromium } from 'playwright'
import { fileSessionStore } from '../../../adapters/node/session/file-session-store.ts'
import { migrate, postgresSessionStore } from '../../../adapters/postgres/index.ts'
import { findChromium } from '../../../scripts/browsers/chromium.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { postgresPrograms, startPostgres } from '../../adapters/postgres/server.ts'
import { redisProgram, startRedis } from '../../adapters/redis/server.ts'
import { killedStore } from '../../support/killed-store.ts'
import { startWorker } from '../../workers/test-harness.ts'
import { type AppendCost, appendCost } from './append-cost.ts'

const goal = 1.2

async function inFiles(): Promise<AppendCost> {
  const directory = mkdtempSync(join(tmpdir(), 'phi-bench-'))
  try {
    return await appendCost(fileSessionStore(directory))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function inIndexedDb(): Promise<AppendCost> {
  const entry = fileURLToPath(new URL('browser-page.ts', import.meta.url))
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: 'iife', globalName: 'bench' })
  // A page of 127.0.0.1 counts as secure, so it has Web Locks.
  const server = createServer((_, response) => response.end('<!doctype html>')).listen(0, '127.0.0.1')
  const browser = await chromium.launch((await findChromium()).launchOptions)
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) // listens on a port, so not a path
    return await page.evaluate<AppendCost>(`(() => { ${outputFiles[0]?.text}; return bench.measured() })()`)
  } finally {
    await browser.close()
    server.close()
  }
}

async function inSqlite(): Promise<AppendCost> {
  const directory = mkdtempSync(join(tmpdir(), 'phi-bench-'))
  const { store, close } = killedStore('sqlite', directory)
  try {
    return await appendCost(store)
  } finally {
    close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function inPostgres(programs: string): Promise<AppendCost> {
  const database = await startPostgres(programs)
  try {
    await migrate({ pool: database.pool })
    return await appendCost(postgresSessionStore({ pool: database.pool }))
  } finally {
    await database.stop()
  }
}

async function inRedis(program: string): Promise<AppendCost> {
  const directory = mkdtempSync(join(tmpdir(), 'phi-bench-'))
  const server = await startRedis(program, directory)
  const { store, close } = killedStore('redis', directory)
  try {
    return await appendCost(store)
  } finally {
    close()
    await server.stop()
  }
}

async function inWorkerd(path: 'object' | 'kv' | 'd1'): Promise<AppendCost> {
  const objects = { SESSIONS: 'SessionObject', INDEX: 'IndexObject' }
  const worker = await startWorker({ main: 'test/bench/sessions/worker.ts', objects, kv: ['KV'], d1: ['DB'] })
  try {
    const response = await fetch(new URL(path, worker.url))
    if (!response.ok) throw new Error(`The Worker answered ${response.status}: ${await response.text()}`)
    return await response.json()
  } finally {
    await worker.close()
  }
}

const postgres = postgresPrograms()
const redis = redisProgram()
if (postgres === undefined) console.log('NOT RUN: PostgreSQL is not on this machine.')
if (redis === undefined) console.log('NOT RUN: Redis is not on this machine.')
const stores: (readonly [name: string, measure: () => Promise<AppendCost>])[] = [
  ['memory', () => appendCost(memorySessionStore())],
  ['files', inFiles],
  ['SQLite', inSqlite],
  ...(postgres === undefined ? [] : [['PostgreSQL', () => inPostgres(postgres)] as const]),
  ...(redis === undefined ? [] : [['Redis', () => inRedis(redis)] as const]),
  ['IndexedDB', inIndexedDb],
  ['Durable Object', () => inWorkerd('object')],
  ['Workers KV', () => inWorkerd('kv')],
  ['D1', () => inWorkerd('d1')],
]

const rows: Record<string, unknown>[] = []
for (const [store, measure] of stores) {
  const { short, long, slowest } = await measure()
  const ratio = long / short
  const ms = { 'turn 10, ms': short.toFixed(3), 'turn 2000, ms': long.toFixed(3), 'slowest, ms': slowest.toFixed(3) }
  rows.push({ store, ...ms, ratio: ratio.toFixed(2), goal: `≤ ${goal}`, met: ratio <= goal })
}
console.table(rows)
