import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  deleteRustSession,
  fileSessionStore,
  listRustSessionIds,
  loadRustSession,
  loadRustSessionsForAgent,
  saveRustSession,
} from '../../../../adapters/node/index.ts'
import { sessionToSpecJson } from '../../../../src/rust.ts'
import { loop, session, user } from '../../../session/tree.ts'
import { failureOf, temporaryRoot } from '../temporary.ts'

const one = (sessionId: string, agentId = 'a', text = 'Hello') =>
  session([loop(`${sessionId}.m.1`, { sessionId, agentId, messages: [user('m1', text)] })], { sessionId, agentId })

/** Makes a file older than all that follow. */
const age = (root: string, sessionId: string, seconds: number) => utimesSync(join(root, `${sessionId}.json`), seconds, seconds)

describe('Rust session files', () => {
  it('loads a session as it was saved', async () => {
    const { root } = temporaryRoot()
    await saveRustSession(one('s1'), root)
    expect(await loadRustSession('s1', root)).toEqual(one('s1'))
    await saveRustSession(one('s1', 'a', 'Changed'), root)
    expect(await loadRustSession('s1', root)).toEqual(one('s1', 'a', 'Changed'))
  })

  it('saves one indented JSON file per session and creates the directory', async () => {
    const { root } = temporaryRoot()
    const directory = join(root, 'a', 'b')
    await saveRustSession(one('Session-1'), directory)
    expect(readdirSync(directory)).toEqual(['Session-1.json'])
    expect(readFileSync(join(directory, 'Session-1.json'), 'utf8')).toBe(sessionToSpecJson(one('Session-1')))
    expect(readFileSync(join(directory, 'Session-1.json'), 'utf8')).toMatch(/^\{\n {2}"session_id": "Session-1",\n/)
  })

  it('copies the session when save is called', async () => {
    const { root } = temporaryRoot()
    const mine = one('s1')
    const saving = saveRustSession(mine, root)
    mine.loops.length = 0
    await saving
    expect(await loadRustSession('s1', root)).toEqual(one('s1'))
  })

  it('lists newest first and skips other files and directories', async () => {
    const { root } = temporaryRoot()
    expect(await listRustSessionIds(join(root, 'missing'))).toEqual([])
    for (const [index, id] of ['b', 'a', 'c'].entries()) {
      await saveRustSession(one(id), root)
      age(root, id, 1000 + index)
    }
    for (const name of ['notes.txt', 'd.json.tmp.1.2', 'e.json.lock', '.json', 'no id.json']) writeFileSync(join(root, name), '{}')
    mkdirSync(join(root, 'folder.json'))
    expect(await listRustSessionIds(root)).toEqual(['c', 'a', 'b'])
  })

  it('loads the sessions of one agent, newest first', async () => {
    const { root } = temporaryRoot()
    for (const [index, agentId] of ['x', 'y', 'x'].entries()) {
      await saveRustSession(one(`s${index}`, agentId), root)
      age(root, `s${index}`, 1000 + index)
    }
    expect(await loadRustSessionsForAgent('x', root)).toEqual([one('s2', 'x'), one('s0', 'x')])
    expect(await loadRustSessionsForAgent('nobody', root)).toEqual([])
  })

  it('deletes a session and then reports it as missing', async () => {
    const { root } = temporaryRoot()
    await saveRustSession(one('s1'), root)
    await deleteRustSession('s1', root)
    expect(readdirSync(root)).toEqual([])
    expect([await failureOf(loadRustSession('s1', root)), await failureOf(deleteRustSession('s1', root))]).toEqual(['notFound', 'notFound'])
    expect(await failureOf(loadRustSession('s1', join(root, 'missing')))).toBe('notFound')
  })

  it('leaves one complete file after concurrent saves', async () => {
    const { root } = temporaryRoot()
    const versions = Array.from({ length: 8 }, (_, index) => one('s1', 'a', `version ${index}`))
    await Promise.all(versions.map((version) => saveRustSession(version, root)))
    expect(versions).toContainEqual(await loadRustSession('s1', root))
    expect(readdirSync(root)).toEqual(['s1.json'])
  })

  it('stores sessions separately from those of fileSessionStore', async () => {
    const { root } = temporaryRoot()
    await saveRustSession(one('s1'), root)
    const store = fileSessionStore(root)
    expect(await store.listIds()).toEqual([])
    await store.save(await loadRustSession('s1', root))
    expect(await store.load('s1')).toEqual(one('s1'))
    expect(await listRustSessionIds(root)).toEqual(['s1'])
  })

  it.each(['', '..', '../up', 'a/b', 'a\u0000', 'x'.repeat(201)])('rejects the session id %j', async (id) => {
    const { root } = temporaryRoot()
    const calls = [saveRustSession({ ...one('s1'), sessionId: id }, root), loadRustSession(id, root), deleteRustSession(id, root)]
    expect(await Promise.all(calls.map(failureOf))).toEqual(['invalidId', 'invalidId', 'invalidId'])
    expect(readdirSync(root)).toEqual([])
  })

  it.each(['', '{"session_id":', '{"session_id":"s1"}', '[]'])('rejects an invalid session: %s', async (text) => {
    const { root } = temporaryRoot()
    writeFileSync(join(root, 's1.json'), text)
    const error: unknown = await loadRustSession('s1', root).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'SessionError', code: 'invalidSession' })
    expect(String(error)).toContain('s1')
    expect(await failureOf(loadRustSessionsForAgent('a', root))).toBe('invalidSession')
  })

  it('keeps the old file and no temporary file if a write fails', async () => {
    const { root, outside } = temporaryRoot()
    mkdirSync(join(root, 's1.json'))
    const error: unknown = await saveRustSession(one('s1'), root).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'SessionError', code: 'io' })
    expect(String(error)).not.toContain(root)
    expect(readdirSync(root)).toEqual(['s1.json'])
    writeFileSync(join(outside, 'file'), '')
    expect(await failureOf(saveRustSession(one('s1'), join(outside, 'file')))).toBe('io')
  })
})
