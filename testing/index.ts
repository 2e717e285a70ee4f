/**
 * A scripted model, a `fetch` with scripted faults, and conformance suites for your own implementations. The suites import no test runner.
 * Pass your own.
 *
 * @example
 * ```ts
 * import { describe, expect, it } from 'vitest'
 * import { sessionStoreSuite } from 'phi-core/testing'
 *
 * sessionStoreSuite({ describe, it, expect }, { name: 'my store', create: () => new MyStore() })
 * ```
 */

export {
  type Script,
  type ScriptedFailure,
  type ScriptedModel,
  type ScriptedOptions,
  ScriptedProvider,
  type ScriptedStep,
  type ScriptedToolCall,
  scripted,
} from '../src/providers/scripted/index.ts'
export { type AgentEndpointSuiteOptions, agentEndpointSuite } from './endpoint/agent-endpoint-suite.ts'
export { endpointAgent } from './endpoint/endpoint-agent.ts'
export type { AskEndpoint } from './endpoint/endpoint-client.ts'
export { type FaultFetch, type FaultScript, faultFetch, type RecordedCall } from './fault-fetch.ts'
export type { FixtureAnswer, ProviderFixture } from './provider/provider-fixture.ts'
export { type StreamProviderSuiteOptions, streamProviderSuite } from './provider/stream-provider-suite.ts'
export { type SchemaValidatorSuiteOptions, schemaValidatorSuite } from './schema/schema-validator-suite.ts'
export type { SessionStoreSuiteOptions } from './session-store/session-store-harness.ts'
export { sessionStoreSuite } from './session-store/session-store-suite.ts'
export type { Expectation, TestRunner } from './test-runner.ts'
export { type WorkspaceSuiteOptions, workspaceSuite } from './workspace-suite.ts'
