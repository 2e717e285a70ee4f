// npm run bench load: what one process, one database and one machine carry, as ratios to the bare thing in the same run where there is one. On loopback alone, and
// bounded: some two minutes. docs/guides/deploy.md#capacity says what comes of the figures.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileSessionStore } from '../../../adapters/node/index.ts'
import { migrate, postgresSessionStore } from '../../../adapters/postgres/index.ts'
import { Agent, memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { type Database, postgresPrograms, startPostgres } from '../../adapters/postgres/server.ts'
import { startWorker } from '../../workers/test-harness.ts'
import { appendCosts, type BareStore, bareFiles, bareMemory, barePostgres } from './appends.ts'
import { eventDelays } from './events.ts'
import { percent, spread } from './figures.ts'
import { firstPages } from './pages.ts'
import { streamCosts } from './streams.ts'

const programs = postgresPrograms()
const database: Database | undefined = programs === undefined ? undefined : await startPostgres(programs)
const directory = mkdtempSync(join(tmpdir(), 'phi-load-'))
try {
  await appends()
  await pages()
  await events()
  await streams()
} finally {
  await database?.stop()
  rmSync(directory, { recursive: true, force: true })
}

async function appends(): Promise<void> {
  const stores: [string, Parameters<typeof appendCosts>[0], BareStore][] = [
    ['memory', memorySessionStore(), bareMemory()],
    ['files', fileSessionStore(join(directory, 'sessions')), await bareFiles(join(directory, 'bare'))],
  ]
  if (database !== undefined) {
    await migrate({ pool: database.pool })
    stores.push(['PostgreSQL', postgresSessionStore({ pool: database.pool }), await barePostgres(database.pool)])
  }
  const rows = []
  for (const [name, store, bare] of stores) {
    const { ours, barest, perSecond, begun } = await appendCosts(store, bare)
    rows.push({
      store: name,
      'append, ms': spread(ours),
      'bare, ms': spread(barest),
      'ratio of medians': (percent(ours, 50) / percent(barest, 50)).toFixed(2),
      'of the fastest quarter': (percent(ours, 25) / percent(barest, 25)).toFixed(2),
      'appends/s, 16 at once': Math.round(perSecond),
      'begun/s, 16 at once': Math.round(begun),
    })
  }
  rows.push({ store: 'Durable Object, local workerd', 'append, ms': (await objectAppend()).toFixed(2) })
  console.log(
    '\nOne record of 1 kB, acknowledged (files: fsync; PostgreSQL: committed). Bare: a push, a write with fsync, an insert of the same row.',
  )
  console.table(rows)
}

async function objectAppend(): Promise<number> {
  const objects = { SESSIONS: 'SessionObject', INDEX: 'IndexObject' }
  const worker = await startWorker({ main: 'test/bench/sessions/worker.ts', objects, kv: ['KV'] })
  try {
    const { short }: { short: number } = await (await fetch(new URL('object', worker.url))).json()
    return short
  } finally {
    await worker.close()
  }
}

async function pages(): Promise<void> {
  const rows = [
    { store: 'memory', ...(await firstPages(memorySessionStore())) },
    { store: 'files', ...(await firstPages(fileSessionStore(join(directory, 'pages')))) },
    ...(database === undefined ? [] : [{ store: 'PostgreSQL', ...(await firstPages(postgresSessionStore({ pool: database.pool }))) }]),
  ]
  if (database !== undefined) await disk(database)
  console.log('\nThe first page (50 messages) of a session that is not in memory, of 50 and of 5,000 messages (goal: 2 times).')
  console.table(rows)
}

/** What stands on disk for a message: 200 sessions of 20 prompts with answers of 1 kB. */
async function disk({ pool }: Database): Promise<void> {
  const store = postgresSessionStore({ pool, tenant: 'disk' })
  const bytes = async () => {
    const of = (table: string) => `pg_total_relation_size('phi.${table}')`
    const { rows } = await pool.query(`SELECT ${of('records')} + ${of('sessions')} AS bytes`)
    return Number(rows[0]?.bytes)
  }
  const model = scripted(() => ({ text: 'The rain in Oslo, as ever. '.repeat(38) }))
  const before = await bytes()
  for (let at = 0; at < 200; at++) {
    const agent = new Agent({ model, session: store, sessionId: `s${at}` })
    for (let prompt = 0; prompt < 20; prompt++) await agent.prompt('What is the weather like?').result
    await agent.close()
  }
  console.log(
    `\nOn disk in PostgreSQL: ${(((await bytes()) - before) / 200 / 1024).toFixed(0)} KiB for a session of 20 prompts with answers of 1 kB.`,
  )
}

async function events(): Promise<void> {
  if (database === undefined) return console.log('NOT RUN: events between processes: there is no PostgreSQL on this machine')
  const rows = []
  for (const way of ['notifications', 'polling every 50 ms', 'HTTP'] as const) {
    const delays = await eventDelays(database.url, way)
    rows.push({
      by: way,
      events: delays.length,
      'median, ms': percent(delays, 50).toFixed(1),
      'p99, ms': percent(delays, 99).toFixed(1),
    })
  }
  console.log('\nAn event of a run in one process, until a client of another process has it (goal: 20 ms at p99).')
  console.table(rows)
}

async function streams(): Promise<void> {
  const rows = []
  for (const runs of [100, 500, 1000]) {
    const { ours, bare } = await streamCosts(runs)
    rows.push({
      runs,
      'CPU of one core, ours': `${(ours.cpu * 100).toFixed(0)} %`,
      bare: `${(bare.cpu * 100).toFixed(0)} %`,
      ratio: (ours.cpuPerFrame / bare.cpuPerFrame).toFixed(2),
      'lag p99, ms': `${ours.lagMs.toFixed(0)} (bare ${bare.lagMs.toFixed(0)})`,
      'deltas/s': `${Math.round(ours.perSecond)} of ${runs * 50}`,
      'RSS, MB': `${ours.rssMb.toFixed(0)} (bare ${bare.rssMb.toFixed(0)})`,
    })
  }
  console.log(
    '\nRuns at once at 50 deltas/s, each with a client, in a process of its own. Bare: Hono streams the same frames (goal: 2 times its CPU).',
  )
  console.table(rows)
}
