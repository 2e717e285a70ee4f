import { describe, expect, it } from 'vitest'
import { exportAllSessions, importSession, logSessionStore, memoryDriver } from '../../src/session.ts'
import { note, notesIn } from '../../testing/session-store/session-samples.ts'

describe('exportAllSessions', () => {
  it('writes an error for a damaged session and exports all others', async () => {
    const driver = memoryDriver()
    const store = logSessionStore({
      ...driver,
      read: async (sessionId, after) => (sessionId === 'damaged' ? ['noise'] : await driver.read(sessionId, after)),
    })
    for (const sessionId of ['first', 'damaged', 'last']) {
      const writer = await store.open(sessionId, { agentId: 'a' })
      await writer.append([note(sessionId)])
      await writer.close()
    }
    const warnings: string[] = []
    const logger = { warn: (event: string, fields: object) => void warnings.push(`${event} ${JSON.stringify(fields)}`) }
    const exported = new Map<string, { text: string; error: string | undefined }>()
    for await (const { sessionId, lines, error } of exportAllSessions(store, { logger })) {
      let text = ''
      for await (const line of lines) text += line
      exported.set(sessionId, { text, error })
    }
    expect([...exported.keys()].sort()).toEqual(['damaged', 'first', 'last'])
    expect(exported.get('damaged')).toEqual({ text: '', error: expect.stringContaining('Cannot export session damaged') })
    expect(warnings).toEqual([expect.stringMatching(/^sessionNotExported .*"damaged"/)])
    for (const sessionId of ['first', 'last']) {
      const { text = '', error } = exported.get(sessionId) ?? {}
      expect(error).toBeUndefined()
      const copy = logSessionStore(memoryDriver())
      await importSession(copy, text)
      expect(notesIn((await copy.tail(sessionId)).records)).toEqual([sessionId])
    }
  })
})
