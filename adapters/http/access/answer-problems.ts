import type { Env, Hono } from 'hono'
import { logWarning } from '../../../src/base/log-warning.ts'
import { errorText } from '../../../src/contract/errors.ts'
import { AgentBusyError, ConfigError, type Logger, PhiError } from '../../../src/index.ts'
import { SessionError } from '../../../src/session.ts'
import { type Problem, ProblemError, problemResponse, unknownRoute } from './problem.ts'

/** Sends a problem body for thrown errors and unknown routes. */
export function answerProblems<E extends Env>(app: Hono<E>, logger: Logger | false | undefined): void {
  app.onError((error) => problemResponse(problemOf(error, logger)))
  app.notFound(() => problemResponse(unknownRoute))
}

/** Converts an error to a problem for the client. Logs server errors to `logger`. */
export function problemOf(error: unknown, logger: Logger | false | undefined): Problem {
  if (error instanceof ProblemError) return error.problem
  if (AgentBusyError.isInstance(error)) return { status: 409, code: 'busy', detail: error.message }
  const known = ConfigError.isInstance(error) ? misuse[error.code] : SessionError.isInstance(error) ? ofSessions[error.code] : undefined
  if (known !== undefined) return { ...known, detail: errorText(error) }
  logWarning(logger, 'agentFailed', { message: errorText(error) })
  // This package's errors contain no secrets and describe a fix. All other errors may contain secrets, so only the logger receives them.
  const detail = PhiError.isInstance(error) ? error.message : "The agent failed to start. The server's log has the reason."
  // The outcome is unknown because a disk, a database, or another writer did not respond. A retry may succeed.
  if (SessionError.isInstance(error) && (error.code === 'io' || error.code === 'blocked'))
    return { status: 503, code: 'storeFailed', detail, retryAfterMs: storeAgainMs }
  return { status: 500, code: SessionError.isInstance(error) ? 'storeFailed' : 'agentFailed', detail }
}

/** Milliseconds until a client may retry after a store failure. */
export const storeAgainMs = 5000

type ClientFault = { status: 400 | 403 | 404 | 409; code: Problem['code'] }

/** Configuration errors that the client caused. */
const misuse: Partial<Record<ConfigError['code'], ClientFault>> = {
  emptyPrompt: { status: 400, code: 'emptyPrompt' },
  invalidMessage: { status: 400, code: 'invalidBody' },
  unknownMessage: { status: 404, code: 'notFound' },
  unknownCall: { status: 404, code: 'notFound' },
  argumentsChanged: { status: 409, code: 'argumentsChanged' },
  claimedElsewhere: { status: 409, code: 'claimedElsewhere' },
  invalidState: { status: 400, code: 'invalidState' },
  stateConflict: { status: 409, code: 'stateConflict' },
  notAllowed: { status: 403, code: 'choiceNotAllowed' },
  emptyHistory: { status: 409, code: 'nothingToContinue' },
  trailingAssistant: { status: 409, code: 'nothingToContinue' },
}

/** Problems with a session that a client opens or imports. */
const ofSessions: Partial<Record<SessionError['code'], ClientFault>> = {
  invalidId: { status: 400, code: 'invalidId' },
  notFound: { status: 404, code: 'notFound' },
  invalidSession: { status: 400, code: 'invalidSession' },
  newerSchema: { status: 400, code: 'invalidSession' },
  conflict: { status: 409, code: 'exists' },
}
