export type { Authorize, Caller, Identity, SessionAddress } from './access/authorize.ts'
export { bearer, callerToken } from './access/credentials.ts'
export { onLoopback } from './access/loopback.ts'
export { type Problem, type ProblemCode, problemResponse, tooManyRuns } from './access/problem.ts'
export { type AgentAppOptions, createAgentApp, type DevAppOptions } from './agent-app.ts'
export { sessionGateway } from './live/gateway/command-handlers.ts'
export type { GatewayCommand, GatewayCommands, GatewayResults } from './live/gateway/gateway-command.ts'
export type { SessionGateway, SessionReads } from './live/gateway/session-gateway.ts'
export { LiveSession } from './live/live-session.ts'
export type { LiveAgentOptions, LiveSessionHost } from './live/live-session-host.ts'
export type { LiveSessions, SessionFigures, SessionRoutes } from './live/live-sessions.ts'
export { memoryLiveSessions } from './live/memory/memory-live-sessions.ts'
export type { MemoryLiveSessions, MemoryLiveSessionsOptions } from './live/memory/memory-options.ts'
export type { EndNotice, NoticeHandlers, SessionNotice, WaitingNotice } from './notices/session-notices.ts'
export { type Webhook, type WebhookOptions, webhook } from './notices/webhook.ts'
export { type ReadWebhook, type ReadWebhookOptions, readWebhook, type WebhookNotice } from './notices/webhook-signature.ts'
export { type RunResponseOptions, runResponse } from './one-shot/run-response.ts'
export type { MakeAgent } from './one-shot/stateless-run.ts'
export { createOpenAiApp, type OpenAiAppOptions, type ServedAgent } from './openai/openai-app.ts'
export type { AnsweredRequest, AppFigures, AppObserver } from './operator/observer.ts'
export type { OperatorPage, OperatorSession } from './operator/operator-routes.ts'
export { type BudgetCounter, type BudgetWindow, type Charge, memoryCounter, type ProxyBudget } from './proxy/budget.ts'
export { type BudgetRule, createModelProxy, type ModelProxyOptions } from './proxy/model-proxy.ts'
export type { KeyPlace } from './proxy/protocols.ts'
export type { CallEnding } from './proxy/relay.ts'
export type { CallReport } from './proxy/relayed-call.ts'
export type { AllowRule, ModelCall, Upstream, UpstreamKey } from './proxy/upstream.ts'
export type { RouteOptions } from './routes/route-options.ts'
export {
  bookSchedules,
  memorySchedules,
  type ScheduleBook,
  type ScheduledPrompt,
  type ScheduleEntry,
  type ScheduleStore,
} from './schedules/schedule-store.ts'
export { SessionSchedules } from './schedules/session-schedules.ts'
