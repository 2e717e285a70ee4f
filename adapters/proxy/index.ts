/**
 * A proxy that keeps the keys of models on the server: `createModelProxy`.
 *
 * @module
 */
export { type Authorize, callerToken } from './access.ts'
export { type BudgetCounter, type BudgetWindow, type Charge, memoryCounter, type ProxyBudget } from './budget.ts'
export { type BudgetRule, createModelProxy, type ModelProxyOptions } from './model-proxy.ts'
export type { KeyPlace } from './protocols.ts'
export type { ProxyProblem } from './refusal.ts'
export type { CallEnding } from './relay.ts'
export type { CallReport } from './relayed-call.ts'
export type { AllowRule, ModelCall, Upstream, UpstreamKey } from './upstream.ts'
