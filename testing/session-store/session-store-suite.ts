import type { JsonObject } from '../../src/contract/json.ts'
import { deleteAllSessions, exportAllSessions, pruneSessions } from '../../src/session/log/retention.ts'
import { scopedSessionStore } from '../../src/session/log/scoped-session-store.ts'
import { importSession } from '../../src/session/log/transfer.ts'
import type { TestRunner } from '../test-runner.ts'
import { sampleSession } from './session-samples.ts'
import { damageTests } from './session-store-damage.ts'
import { clockStep, type SessionStoreSuiteOptions, storesOf } from './session-store-harness.ts'
import { importTests } from './session-store-imports.ts'
import { logTests } from './session-store-logs.ts'
import { mediaTests } from './session-store-media.ts'
import { sessionTests } from './session-store-sessions.ts'
import { takeoverByAgentTests } from './session-store-takeover.ts'
import { writerTests } from './session-store-writers.ts'

/**
 * Tests every guarantee of `SessionStore`, including those in `promises`. Run it on each implementation.
 *
 * Source: docs/concepts/sessions.md
 */
export function sessionStoreSuite(runner: TestRunner, options: SessionStoreSuiteOptions): void {
  runner.describe(options.name, () => {
    sessionTests(runner, options)
    logTests(runner, options)
    writerTests(runner, options)
    takeoverByAgentTests(runner, options)
    importTests(runner, options)
    damageTests(runner, options)
    mediaTests(runner, options)
    retentionTests(runner, options)
  })
}

/** Tests old records, and sessions that belong to one user. */
function retentionTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('prunes sessions older than a given time and logs each deletion', async () => {
    const { store, other, written, listed } = await storesOf(options)
    for (const id of ['old-1', 'old-2']) await store.save(sampleSession(id))
    await written()
    await listed()
    expect(await pruneSessions(other, { olderThan: 0 })).toEqual({ deleted: 0, kept: 2, failed: [] })
    // Lists may round to whole seconds, or have older times if read late.
    const moment = Math.ceil(Date.now() / 1000) * 1000 + 1
    const isExact = store.promises.list === 'immediate'
    while (isExact && Date.now() <= moment) await clockStep()
    // A file system's clock lags behind by some milliseconds.
    if (isExact) await clockStep()
    if (isExact) await store.save(sampleSession('new'))
    const logged: string[] = []
    const logger = {
      warn: () => undefined,
      info: (event: string, { sessionId, reason }: JsonObject) => void logged.push(`${event} ${sessionId} ${reason}`),
    }
    expect(await pruneSessions(other, { olderThan: moment, logger })).toEqual({ deleted: 2, kept: isExact ? 1 : 0, failed: [] })
    expect(logged.toSorted()).toEqual(['sessionDeleted old-1 age', 'sessionDeleted old-2 age'])
    await written()
    await listed()
    expect(await store.listIds()).toEqual(isExact ? ['new'] : [])
  })

  it('exports and deletes only the data of one user', async () => {
    const { store, other, written, listed } = await storesOf(options)
    for (const owner of ['ada', 'bob']) for (const id of ['s1', 's2']) await scopedSessionStore(store, owner).save(sampleSession(id, owner))
    await written()
    await listed()
    const ofAda = scopedSessionStore(other, 'ada')
    const kept = new Map<string, string>()
    for await (const { sessionId, lines } of exportAllSessions(ofAda)) {
      let text = ''
      for await (const line of lines) text += line
      kept.set(sessionId, text)
    }
    expect([...kept.keys()].toSorted()).toEqual(['s1', 's2'])
    expect(await deleteAllSessions(ofAda)).toEqual({ deleted: 2, kept: 0, failed: [] })
    await written()
    await listed()
    expect((await scopedSessionStore(store, 'ada').list()).sessions).toEqual([])
    expect((await scopedSessionStore(store, 'bob').listIds()).toSorted()).toEqual(['s1', 's2'])
    await importSession(store, kept.get('s1') ?? '', { sessionId: 'again' })
    await written()
    const messages = ({ loops }: { loops: readonly { messages: unknown }[] }) => loops.map((loop) => loop.messages)
    expect(messages(await store.load('again'))).toEqual(messages(sampleSession('s1', 'ada')))
  })
}
