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

/** What a client says about calls, and in the same request to the model. */
export interface Settlement extends KnownCalls {
  decisions: readonly Decision[]
  results: readonly ClientResult[]
  /** Heard right after the results: the model answers both at once. */
  message?: UserMessage & { id: string }
}

/** What came of a settlement. */
export interface Settled {
  /** The run that goes on with it. */
  run: AgentRun
  /** The calls whose answer counted. */
  accepted: string[]
  /** Whether the run has taken the message in. One that ends with the results has not. */
  isHeard: boolean
}

/**
 * Tells the session what a client sends about calls. Undefined where none of it counts.
 *
 * **Contract**
 * - Each answer stands alone. One for a call that does not wait any more is passed over, and the others count.
 * - A result that no result may be, such as one that is too long, becomes one that says that the tool ran.
 * - What is refused otherwise (400 `invalidBody`, 409 `argumentsChanged`) is refused once the others are recorded.
 * - Refuses with 404 `notFound` where nothing counts and a call is none of the session.
 * - Refuses with 409 `busy` a `message` while another call waits; the answers count all the same.
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

/** AG-UI tells ids that come again apart by a number. */
function ownId(toolCallId: string, made: ReadonlySet<string>): string {
  return made.has(toolCallId) ? toolCallId : toolCallId.replace(/#\d+$/, '')
}

/** As `settleCalls`, for a client that learns what comes of it by the events of a run. Refuses with 409 `nothingToContinue` where none is on and none was. */
export async function settle(
  live: LiveSession,
  { messages = [], unattended, decisions, results }: GatewayCommands['settle'],
): Promise<GatewayResults['settle']> {
  const before = messages.length > 0 ? (await live.agent()).messages : []
  const fresh = messages.filter(({ id }) => !before.some((said) => said.id === id))
  const settled = await settleCalls(live, { decisions, results })
  const run = settled?.run ?? (await live.latestRun())
  if (run === undefined) refuse(409, 'nothingToContinue', 'None of these calls waits for a page, and no run is on.')
  if (unattended !== undefined) answerUnattended(run, unattended)
  // Where it cannot be stored, the run says so with its end.
  if (fresh.length > 0) await run.followUp(fresh).stored.catch(() => undefined)
  const since = settled?.accepted ?? resolvedIn(live, run, [...decisions, ...results])
  return { ...about(run), since }
}

/** The calls that this run has resolved before. */
export function resolvedIn(live: LiveSession, run: AgentRun, answered: readonly CallRef[]): string[] {
  return answered.map(({ toolCallId }) => toolCallId).filter((id) => live.calls.hasResolved(run.id, id))
}

/** Answers of one request while they are told, one after the other. */
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
      return tell(asked.run, asked.pending, decision) ? asked.run : undefined
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

  /** A client of another protocol sends the same result with each request: one that is refused must not keep it out for ever. */
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

  /** Somebody else may have been faster: then this one does not count. */
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

  /** Before the last call is answered: its run goes on at once, and hears what is queued by then. */
  #queueMessage(run: AgentRun, { toolCallId }: CallRef): void {
    if (this.#message === undefined || this.#queued !== undefined || waitsForElse(run, toolCallId)) return
    this.#queued = run.steer(this.#message)
  }

  /** Refuses with 409 `busy` where something else waits, or comes to, before the message is heard. */
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

/** `waits` is a message that is held up, because a person or a page is asked first. */
type Fate = Awaited<Receipt['settled']> | 'waits'

/** What becomes of a queued message. */
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

/** Why a run takes no such result; undefined where it has taken it. Rejects with what else went wrong. */
async function refusalOf(answer: () => Promise<void>): Promise<ConfigError | undefined> {
  try {
    await answer()
    return undefined
  } catch (error) {
    if (ConfigError.isInstance(error) && error.code === 'invalidMessage') return error
    throw error
  }
}

/** Whether somebody else was faster. */
function isLate(error: unknown): boolean {
  return ConfigError.isInstance(error) && (error.code === 'unknownCall' || error.code === 'claimedElsewhere')
}
