export { type SessionStoreSuiteOptions, sessionStoreSuite } from './session-store-suite.ts'
export type { Expectation, TestRunner } from './test-runner.ts'
