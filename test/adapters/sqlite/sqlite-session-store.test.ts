import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type SqliteDatabase, sqliteSessionStore } from '../../../adapters/sqlite/index.ts'
import { Agent, ConfigError } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { sessionStoreSuite } from '../../../testing/index.ts'
import { note, notesIn } from '../../../testing/session-store/session-samples.ts'
import { foundSessions } from '../../support/sessions-in-runtime.ts'
import { temporaryRoot } from '../node/temporary.ts'

/** Opens a database file, as one process does. */
function opened(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  onTestFinished(() => database.close())
  return database
}

let file = ''
let database: DatabaseSync | undefined

function create() {
  file = join(temporaryRoot().root, 'sessions.db')
  database = opened(file)
  return sqliteSessionStore({ database })
}

async function damage(sessionId: string, how: (lines: string[]) => string[]): Promise<void> {
  const sql = opened(file)
  const rows = sql
    .prepare(
      'SELECT r.session, r.epoch, r.line FROM phi_records r JOIN phi_sessions s ON s.id = r.session WHERE s.session_id = ? ORDER BY r.epoch, r.seq',
    )
    .all(sessionId)
  const last = rows.at(-1)
  if (last === undefined) throw new Error(`Session ${sessionId} has no lines.`)
  sql.prepare('DELETE FROM phi_records WHERE session = ?').run(Number(last.session))
  for (const [at, line] of how(rows.map((row) => String(row.line))).entries()) {
    const epoch = Number((rows[at] ?? last).epoch)
    sql.prepare('INSERT INTO phi_records VALUES (?, ?, ?, 0, ?)').run(Number(last.session), epoch, at + 1, line)
  }
}

sessionStoreSuite(
  { describe, it, expect },
  { name: 'SQLite', create, another: () => sqliteSessionStore({ database: opened(file) }), damage },
)

describe('sessions in SQLite', () => {
  it('stores a record that is larger than a row', async () => {
    const store = create()
    const writer = await store.open('s', { agentId: 'a' })
    const texts = ['ü😀'.repeat(400_000), 'short', 'x'.repeat(2_000_000)]
    await writer.append(texts.map((text) => note(text)))
    await writer.close()
    expect(notesIn((await store.tail('s')).records)).toEqual(texts)
    expect(database?.prepare('SELECT max(length(CAST(line AS BLOB))) AS most FROM phi_records').get()?.most).toBeLessThan(1024 * 1024)
  })

  it('reads a long log in batches', async () => {
    const store = create()
    const writer = await store.open('s', { agentId: 'a' })
    const texts = Array.from({ length: 1_003 }, (_, at) => `${at}`)
    for (let at = 0; at < texts.length; at += 100) await writer.append(texts.slice(at, at + 100).map((text) => note(text)))
    await writer.close()
    expect(notesIn((await store.tail('s')).records)).toEqual(texts)
    const again = await sqliteSessionStore({ database: opened(file) }).open('s', { agentId: 'b' })
    await again.append([note('more')])
    await again.close()
    expect(notesIn((await store.tail('s')).records)).toEqual([...texts, 'more'])
  })

  it('isolates the sessions of different tenants', async () => {
    const store = create()
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([note('mine')])
    const other = sqliteSessionStore({ database: opened(file), tenant: 'somebody else' })
    expect((await other.list()).sessions).toEqual([])
    await expect(other.tail('s')).rejects.toMatchObject({ code: 'notFound' })
    expect(await other.delete('s')).toBe(false)
    await writer.append([note('still mine')])
    await writer.close()
    expect(notesIn((await store.tail('s')).records)).toEqual(['mine', 'still mine'])
  })

  it('waits for another process without blocking the thread', async () => {
    const store = create()
    const writer = await store.open('s', { agentId: 'a' })
    const other = opened(file)
    other.exec('BEGIN IMMEDIATE')
    const appended = writer.append([note('late')])
    let turns = 0
    while (turns < 20) {
      await new Promise((resolve) => setImmediate(resolve))
      turns += 1
    }
    other.exec('COMMIT')
    await appended
    await writer.close()
    expect(notesIn((await store.tail('s')).records)).toEqual(['late'])
  })

  it('rejects with io if another process holds the lock for longer than busyTimeoutMs', async () => {
    create()
    const store = sqliteSessionStore({ database: opened(file), busyTimeoutMs: 20 })
    const writer = await store.open('s', { agentId: 'a' })
    const other = opened(file)
    other.exec('BEGIN IMMEDIATE')
    const refused = expect(writer.append([note('never')])).rejects
    await refused.toMatchObject({ code: 'io', message: expect.stringContaining('locked the database') })
    other.exec('ROLLBACK')
    await writer.close()
  })

  it('rejects with quota if the database is full', async () => {
    const store = create()
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([note('fits')])
    database?.exec('PRAGMA max_page_count = 30')
    await expect(writer.append([note('x'.repeat(1_000_000))])).rejects.toMatchObject({ code: 'quota' })
    database?.exec('PRAGMA max_page_count = 100000')
    await writer.close()
    expect(notesIn((await store.tail('s')).records)).toEqual(['fits'])
  })

  it('refuses a wrong option by name', () => {
    const wrong = [
      [{}, 'database'],
      [{ database: 'sessions.db' }, 'database'],
      [{ database: new DatabaseSync(':memory:'), path: 'x' }, 'path'],
      [{ database: new DatabaseSync(':memory:'), tenant: 'x'.repeat(201) }, 'tenant'],
    ] as const
    for (const [options, name] of wrong) {
      const act = () => sqliteSessionStore(options as unknown as { database: SqliteDatabase })
      expect(act).toThrow(ConfigError)
      expect(act).toThrow(name)
    }
  })

  it('resumes an agent in another process', async () => {
    const agent = new Agent({ model: scripted([{ text: 'Hello.' }]), session: create(), sessionId: 's' })
    await agent.prompt('Hi.').result
    await agent.close()
    const store = sqliteSessionStore({ database: opened(file) })
    expect((await store.list()).sessions).toMatchObject([{ sessionId: 's', status: 'idle', messages: 2 }])
  })
})

it.each([
  ['Node', ['node']],
  ['Bun', ['bun']],
  ['Deno', ['deno', 'run', '--allow-all', '--no-check']],
])('stores, resumes and deletes sessions with the database of %s', async (_name, [program = '', ...flags]) => {
  const args = [...flags, 'test/adapters/sqlite/own-runtime.ts', join(temporaryRoot().root, 'sessions.db')]
  const { stdout } = await promisify(execFile)(resolve('node_modules/.bin', program), args)
  expect(JSON.parse(stdout)).toEqual(foundSessions)
})

it('continues a conversation as the guide shows', async () => {
  const env = { ...process.env, SESSIONS: join(temporaryRoot().root, 'sessions.db') }
  const run = () => promisify(execFile)(resolve('node_modules/.bin/node'), ['examples/recipes/sessions/sqlite-sessions.ts'], { env })
  expect((await run()).stdout).toBe('You have sent 1 messages.\n')
  expect((await run()).stdout).toBe('You have sent 2 messages.\n')
})
