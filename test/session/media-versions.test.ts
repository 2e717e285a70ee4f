import { describe, expect, it } from 'vitest'
import type { FileContent } from '../../src/index.ts'
import { exportSession, importSession, logSessionStore, memoryDriver } from '../../src/session.ts'

const block: FileContent = { type: 'file', mimeType: 'application/octet-stream', data: 'A'.repeat(100_000) }
const message = { role: 'user' as const, id: 'm', content: [block], timestamp: 1 }
const said = { loopId: 'l', entry: { type: 'input' as const, message } }

/** The same logs for a version that keeps bytes in them, and for this one. */
function bothVersions() {
  const driver = memoryDriver()
  const { blobs: _none, ...plain } = driver
  return { driver, older: logSessionStore(plain), store: logSessionStore(driver) }
}

describe('media inside and outside log lines', () => {
  it('opens older logs with inline bytes and stores new bytes separately', async () => {
    const { driver, older, store } = bothVersions()
    for (const each of [older, store]) {
      const writer = await each.open('s', { agentId: 'a' })
      await writer.append([{ entry: { type: 'title', title: 'Files' } }, said])
      await writer.close()
    }
    const lines = (await driver.read('s', 0)) ?? []
    expect(lines.map((line) => [line.slice(0, 7), line.length > 100_000])).toEqual([
      ['{"v":1,', false],
      ['{"v":1,', true],
      ['{"v":1,', false],
      ['{"v":2,', false],
    ])
    const { records, damage } = await store.tail('s')
    const media = records.flatMap(({ entry }) => (entry.type === 'input' && entry.message.role === 'user' ? entry.message.content : []))
    expect([media[0], damage]).toEqual([block, undefined])
    expect(media[1]).toMatchObject({ type: 'file', blob: { bytes: 75_000 } })
  })

  it('exports and imports between old and new formats', async () => {
    const { older, store } = bothVersions()
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([
      { entry: { type: 'sessionStart', agentId: 'a', formation: { type: 'firstLoop', at: 1 }, scope: 'persistent' } },
      said,
    ])
    await writer.close()
    const text = await exportSession(store, 's')
    await importSession(older, text, { sessionId: 'old' })
    expect(JSON.stringify((await older.tail('old')).records)).toContain(block.data)
    await importSession(store, await exportSession(older, 'old'), { sessionId: 'back' })
    expect(JSON.stringify((await store.tail('back')).records)).not.toContain(block.data)
    expect((await store.load('back')).loops).toEqual((await store.load('s')).loops.map((loop) => ({ ...loop, sessionId: 'back' })))
  })
})
