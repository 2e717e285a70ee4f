import { expect, it } from 'vitest'
import { fileSessionStore } from '../../../../adapters/node/session/file-session-store.ts'
import { exportSession, exportSessionLines, importSession } from '../../../../src/session.ts'
import { note } from '../../../../testing/session-store/session-samples.ts'
import { isSoak } from '../../../support/runs.ts'
import { failureOf, temporaryRoot } from '../temporary.ts'

const body = 'x'.repeat(8 * 1024 * 1024)
/** With these the log is longer than the longest string, which has 2 ** 29 - 24 characters. */
const count = 65

// Half a gigabyte. What is said of it is said of small segments in npm test too.
it.runIf(isSoak)('reads, continues and lists a log longer than any string', { timeout: 600_000 }, async () => {
  const store = fileSessionStore(temporaryRoot().root)
  const writer = await store.open('long', { agentId: 'a' })
  for (let at = 0; at < count; at++) await writer.append([note(body)])
  await writer.close()
  const { cursor, damage } = await store.tail('long')
  expect([cursor, damage]).toEqual([count, undefined])
  const next = await store.open('long', { agentId: 'a' })
  expect(next.records.length).toBe(count)
  await next.append([note('next')])
  await next.close()
  expect(await failureOf(exportSession(store, 'long'))).toBe('quota')
  await importSession(store, exportSessionLines(store, 'long'), { sessionId: 'copy' })
  expect((await store.tail('copy')).cursor).toBe(count + 1)
  await store.delete('copy')
  const { sessions } = await store.list()
  expect(sessions.map(({ sessionId, messages, error }) => [sessionId, messages, error])).toEqual([['long', count + 1, undefined]])
})
