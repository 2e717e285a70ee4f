/**
 * Exports for other live-session hosts in this package. Not a public entry point.
 *
 * @module
 */

export { answerProblems, problemOf, storeAgainMs } from './access/answer-problems.ts'
export {
  type Caller,
  callerOf,
  type InDev,
  type Letting,
  lettingOf,
  lettingTable,
  type SessionAddress,
  shareOf,
  shareOfNamed,
} from './access/authorize.ts'
export { assertJson, type BodyLimits, readSharedText, readText } from './access/body.ts'
export { isHost } from './access/loopback.ts'
export { newApp } from './access/new-app.ts'
export { originGuard } from './access/origin.ts'
export { deadlineExceeded, ProblemError, problemResponse, refuse, soonMs, unknownRoute } from './access/problem.ts'
export { isSigned, signatureOf, signingKey } from './access/signature.ts'
export { sayIn } from './live/commands/queue-message.ts'
export { type AskedCommand, commandIn, deadlinesFrom, defaultForwardMs, requestFor } from './live/commands/session-commands.ts'
export { gatewayWith, sessionGateway } from './live/gateway/command-handlers.ts'
export { maxAttempts } from './live/live-session-host.ts'
export type { ListPage, SessionFigures } from './live/live-sessions.ts'
export { claimAll, listOfAll } from './live/memory/left-sessions.ts'
export { SessionsHere } from './live/memory/memory-live-sessions.ts'
export {
  type CloseOptions,
  closeOptions,
  type DrainOptions,
  type MemoryLiveSessionsOptions,
  memoryOptionTable,
} from './live/memory/memory-options.ts'
export { type ContextRequest, contextFrom, contextRequest, type RunContext, type WithContext } from './live/run-context.ts'
export { progressOf } from './live/unfinished-run.ts'
export type { EndNotice, WaitingNotice } from './notices/session-notices.ts'
export type { AppFigures } from './operator/observer.ts'
export { type RouteOptions, routeDefaults } from './routes/route-options.ts'
export { liveSessionRoutes } from './routes/session-routes.ts'
export { bookSchedules, dueAtOnce } from './schedules/schedule-store.ts'
export { Scheduler } from './schedules/scheduler.ts'
