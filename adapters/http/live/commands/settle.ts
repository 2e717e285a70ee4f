import { answersInstead } from '../../../../src/base/json/tool-output.ts'
import { errorText } from '../../../../src/contract/errors.ts'
import { type AgentRun, ConfigError, type Receipt, type UserMessage } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import type { GatewayCommands, GatewayResults } from '../gateway/gateway-command.ts'
import type { LiveSession } from '../live-session.ts'
import { askedCall, type CallRef, callsMade, forPages, forPeople, isOfEarlierCall, type KnownCalls, waitsForElse } from './asked-calls.ts'
import { about, refuseBusy } from './begin.ts'
import { type ClientResult, refOf, refuseUnasked } from './client-calls.ts'
import { type Decision, refuseUndecided, tell } from './decide.ts'
import { answerUnattended } from './unattended.ts'

/** A client's decisions and results, and a message in the same request. */
export interface Settlement extends KnownCalls {
  decisions: readonly Decision[]
  results: readonly ClientResult[]
  /** Delivered directly after the results, so that the model responds to both. */
  message?: UserMessage & { id: string }
}

/** A settlement's outcome. */
export interface Settled {
  /** The run that continues. */
  run: AgentRun
  /** Calls whose decision or result was accepted. */
  accepted: string[]
  /** Whether the run has received the message. False if the run ended with the results. */
  isHeard: boolean
}

/**
 * Passes a client's decisions and results to the session. Returns `undefined` if none was accepted.
 *
 * **Contract**
 * - Decisions and results are independent. Skips those for calls that are no longer pending.
 * - Replaces an invalid or too long result with a result that says that the tool ran.
 * - Throws other rejections (400 `invalidBody`, 409 `argumentsChanged`) after the accepted decisions and results are recorded.
 * - Rejects with 404 `notFound` if none is accepted and the session does not know a call.
 * - Rejects a `message` with 409 `busy` while another call is pending, but still accepts the decisions and results.
 */
export async function settleCalls(live: LiveSession, settlement: Settlement): Promise<Settled | undefined> {
  const { decisions, results, message } = settlement
  const agent = (await live.recorded.isKnown()) ? await live.agent() : undefined
  const made = agent === undefined ? new Set<string>() : callsMade(agent)
  const settling = new Settling(live, message)
  for (const decision of decisions) await settling.decide(decision)
  for (const result of results) {
    if (agent !== undefined && isOfEarlierCall(agent, result.toolCallId, settlement)) continue
    await settling.answer({ ...result, toolCallId: ownId(result.toolCallId, made) })
  }
  const settled = await settling.end()
  if (settled !== undefined || message !== undefined) return settled
  const unasked = results.find(({ toolCallId }) => !made.has(ownId(toolCallId, made)))
  if (unasked !== undefined) refuseUnasked(unasked)
  const undecided = decisions.find(({ toolCallId }) => !made.has(toolCallId))
  if (undecided !== undefined) refuseUndecided(undecided)
  return undefined
}

/** Returns the original id of a call, because AG-UI clients number repeated ids. */
function ownId(toolCallId: string, made: ReadonlySet<string>): string {
  return made.has(toolCallId) ? toolCallId : toolCallId.replace(/#\d+$/, '')
}

/**
 * Like `settleCalls`, for a client that reads the outcome from run events. Rejects with 409 `nothingToContinue` without an
 * active or earlier run.
 */
export async function settle(
  live: LiveSession,
  { messages = [], unattended, decisions, results }: GatewayCommands['settle'],
): Promise<GatewayResults['settle']> {
  const before = messages.length > 0 ? (await live.agent()).messages : []
  const fresh = messages.filter(({ id }) => !before.some((known) => known.id === id))
  const settled = await settleCalls(live, { decisions, results })
  const run = settled?.run ?? (await live.latestRun())
  if (run === undefined) refuse(409, 'nothingToContinue', 'None of these calls is pending, and no run is active.')
  if (unattended !== undefined) answerUnattended(run, unattended)
  // If storing fails, the run's end reports the error.
  if (fresh.length > 0) await run.followUp(fresh).stored.catch(() => undefined)
  const since = settled?.accepted ?? resolvedIn(live, run, [...decisions, ...results])
  return { ...about(run), since }
}

/** Returns the calls that this run has already resolved. */
export function resolvedIn(live: LiveSession, run: AgentRun, answered: readonly CallRef[]): string[] {
  return answered.map(({ toolCallId }) => toolCallId).filter((id) => live.calls.hasResolved(run.id, id))
}

/** Passes one request's decisions and results to a run, one at a time. */
class Settling {
  readonly #live: LiveSession
  readonly #message: Settlement['message']
  readonly #accepted: string[] = []
  #run: AgentRun | undefined
  #queued: Receipt | undefined
  #refusal: { reason: unknown } | undefined

  constructor(live: LiveSession, message: Settlement['message']) {
    this.#live = live
    this.#message = message
  }

  decide(decision: Decision): Promise<void> {
    return this.#tell(decision, async () => {
      const asked = await askedCall(this.#live, forPeople, decision)
      if (asked === undefined) return undefined
      this.#queueMessage(asked.run, decision)
      return (await tell(this.#live, asked.run, asked.pending, decision)) ? asked.run : undefined
    })
  }

  answer(result: ClientResult): Promise<void> {
    return this.#tell(result, async () => {
      const asked = await askedCall(this.#live, forPages, result)
      if (asked === undefined) return undefined
      const { run, pending } = asked
      this.#queueMessage(run, pending)
      await this.#answer(run, result, pending)
      return run
    })
  }

  /**
   * Passes a result to the run. Clients of other protocols repeat their results with each request, so a rejected result must not block them
   * forever.
   */
  async #answer(run: AgentRun, { answer, clientId, ...ref }: ClientResult, pending: Required<CallRef>): Promise<void> {
    const call = refOf(ref, pending)
    const refusal = await refusalOf(() => run.answerCall(call, answer, clientId))
    if (refusal === undefined) return
    for (const instead of answersInstead(answer, errorText(refusal)))
      if ((await refusalOf(() => run.answerCall(call, instead, clientId))) === undefined) return
    throw refusal
  }

  async end(): Promise<Settled | undefined> {
    const run = this.#run
    if (this.#refusal !== undefined || run === undefined) {
      await this.#takeBack()
      if (this.#refusal !== undefined) throw this.#refusal.reason
      return undefined
    }
    return { run, accepted: this.#accepted, isHeard: this.#message !== undefined && (await this.#isHeardIn(run)) }
  }

  /** Passes a decision to the run. Ignores the decision if another client was faster. */
  async #tell({ toolCallId }: CallRef, act: () => Promise<AgentRun | undefined>): Promise<void> {
    try {
      const run = await act()
      if (run === undefined) return
      this.#run = run
      this.#accepted.push(toolCallId)
    } catch (error) {
      if (!isLate(error)) this.#refusal ??= { reason: error }
    }
  }

  /** Queues the message before the last call is settled, because the run then continues immediately with the messages queued so far. */
  #queueMessage(run: AgentRun, { toolCallId }: CallRef): void {
    if (this.#message === undefined || this.#queued !== undefined || waitsForElse(run, toolCallId)) return
    this.#queued = run.steer(this.#message)
  }

  /** Rejects with 409 `busy` if another call is pending before the message is delivered. */
  async #isHeardIn(run: AgentRun): Promise<boolean> {
    const queued = this.#queued
    const outcome = queued === undefined || waitsForElse(run) ? 'waits' : await fateOf(run, queued)
    if (outcome !== 'waits') return outcome === 'delivered'
    await this.#takeBack()
    return refuseBusy(this.#live)
  }

  async #takeBack(): Promise<void> {
    this.#queued?.withdraw()
    await this.#queued?.stored.catch(() => undefined)
  }
}

/** A queued message's outcome. `waits` means that another pending call delays the message. */
type Fate = Awaited<Receipt['settled']> | 'waits'

/** Resolves with the outcome of a queued message. */
function fateOf(run: AgentRun, queued: Receipt): Promise<Fate> {
  return new Promise((resolve) => {
    const done = (fate: Fate): void => {
      leave()
      resolve(fate)
    }
    const leave = run.subscribe(({ type }) => {
      if (type === 'approvalRequested' || type === 'clientCallRequested') done('waits')
    })
    void queued.settled.then(done)
  })
}

/** Returns the reason why a run rejects a result, or `undefined` if the run accepts the result. Rejects with any other error. */
async function refusalOf(answer: () => Promise<void>): Promise<ConfigError | undefined> {
  try {
    await answer()
    return undefined
  } catch (error) {
    if (ConfigError.isInstance(error) && error.code === 'invalidMessage') return error
    throw error
  }
}

/** Returns whether another client was faster. */
function isLate(error: unknown): boolean {
  return ConfigError.isInstance(error) && (error.code === 'unknownCall' || error.code === 'claimedElsewhere')
}
