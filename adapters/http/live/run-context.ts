import type { Context, Env } from 'hono'
import { startTimer } from '../../../src/base/timer.ts'
import type { AgentRun, PromptOptions } from '../../../src/index.ts'
import type { SessionAddress } from '../access/authorize.ts'
import { type Problem, ProblemError, soonMs } from '../access/problem.ts'

/** Describes the run that needs a `context`. */
export interface ContextRequest {
  /**
   * - `start`: a client starts the run.
   * - `queued`: a scheduled or queued message starts the run, without a request.
   * - `recover`: another process's run, which was interrupted or paused for a decision, continues here without a request.
   */
  reason: 'start' | 'queued' | 'recover'
  sessionId: string
  /** Name that `authorize` returned for the session's owner. Absent on a server with a single user. */
  startedBy?: string
}

/** Returns the description of a run in this session. */
export function contextRequest(reason: ContextRequest['reason'], { sessionId, identity }: SessionAddress): ContextRequest {
  return { reason, sessionId, ...(identity !== undefined && { startedBy: identity }) }
}

/** Phantom property with the `context` type that the sessions' tools declare, for type inference. Never set at runtime. */
export interface WithContext<RunValue> {
  readonly '~context'?: RunValue
}

/** Returns the `context` of a run. `c` is the request that starts the run; `undefined` without a request or in another process. */
export type MakeContext<E extends Env = Env, RunValue = unknown> = (
  c: Context<E> | undefined,
  start: ContextRequest,
) => RunValue | undefined | Promise<RunValue | undefined>

/** Requires `context` if one of the sessions' tools declares its type. */
export type DeclaredContext<E extends Env, RunValue> = unknown extends RunValue ? unknown : { context: MakeContext<E, NoInfer<RunValue>> }

/** A run's context as a prompt option. */
export type RunContext = Pick<PromptOptions, 'context'>

/** A run that started in this process, and its context. */
export interface ContextedRun {
  run: AgentRun
  own: RunContext
}

/** Returns the context for the run of a command. Called at most once, when the run is about to start. */
export type StartContext = () => Promise<RunContext>

/** Maximum milliseconds for an app to return a context. The session starts no other run in the meantime. */
const contextMs = 30_000

function withinLimit(make: () => Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late: Problem = {
      ...{ status: 503, code: 'unavailable', retryAfterMs: soonMs },
      detail: `The server did not create a context for the run within ${contextMs / 1000} s. Send the request again.`,
    }
    const stopTimer = startTimer(contextMs, () => reject(new ProblemError(late)))
    make().finally(stopTimer).then(resolve, reject)
  })
}

/** Calls `make`. Without a request, rejects with 409 `contextMissing` if `make` returns `undefined`, so that an interrupted run waits. */
export async function contextFrom<From>(
  make: (from: From | undefined, start: ContextRequest) => unknown,
  from: From | undefined,
  start: ContextRequest,
): Promise<RunContext> {
  const context = await withinLimit(async () => make(from, start))
  if (context !== undefined) return { context }
  if (from !== undefined) return {}
  const { reason } = start
  const outcome = reason === 'recover' ? 'The run waits' : 'No run was started'
  const stopIt = reason === 'recover' ? ', or stop the run with …/stop' : ''
  throw new ProblemError({
    status: 409,
    code: 'contextMissing',
    detail: `${outcome}: the server has no context for it (reason ${reason}). Let its context option return one${stopIt}.`,
  })
}
