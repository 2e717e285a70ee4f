import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { sqliteSessionStore } from '../../examples/recipes/sessions/own-store.ts'
import { sessionStoreSuite } from '../../testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'phi-own-store-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let file = ''
const newFile = (): string => join(folder, `${crypto.randomUUID()}.db`)

/** Puts other lines in place of those of a session, as a damaged disk would. */
async function damage(sessionId: string, how: (lines: string[]) => string[]): Promise<void> {
  const db = new DatabaseSync(file)
  const rows = db.prepare('SELECT epoch, seq, text FROM lines WHERE session = ? ORDER BY position').all(sessionId)
  db.prepare('DELETE FROM lines WHERE session = ?').run(sessionId)
  const add = db.prepare('INSERT INTO lines (session, epoch, seq, text) VALUES (?, ?, ?, ?)')
  const last = rows.at(-1)
  for (const [at, text] of how(rows.map((row) => String(row.text))).entries())
    add.run(sessionId, rows[at]?.epoch ?? last?.epoch ?? 1, rows[at]?.seq ?? at + 1, text)
  db.close()
}

sessionStoreSuite(
  { describe, expect, it },
  {
    name: 'the store of the documentation keeps every promise',
    create: () => {
      file = newFile()
      return sqliteSessionStore(file)
    },
    another: () => sqliteSessionStore(file),
    damage,
  },
)
