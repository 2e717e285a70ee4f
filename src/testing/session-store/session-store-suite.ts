import type { TestRunner } from '../test-runner.ts'
import { damageTests } from './session-store-damage.ts'
import type { SessionStoreSuiteOptions } from './session-store-harness.ts'
import { importTests } from './session-store-imports.ts'
import { logTests } from './session-store-logs.ts'
import { mediaTests } from './session-store-media.ts'
import { retentionTests } from './session-store-retention.ts'
import { sessionTests } from './session-store-sessions.ts'
import { takeoverByAgentTests } from './session-store-takeover.ts'
import { writerTests } from './session-store-writers.ts'

/**
 * Every promise of `SessionStore` as tests, those included that the store declares in `promises`. Run it on each implementation.
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
