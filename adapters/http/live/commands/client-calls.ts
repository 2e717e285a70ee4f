import type { ClientCallAnswer } from '../../../../src/client/index.ts'
import { type Agent, type AgentRun, ConfigError, type PendingClientCall } from '../../../../src/index.ts'
import { callsToAnswer, startTimer } from '../../../../src/internal.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'

/** Which call a page is about. */
export interface ClientCallRef {
  toolCallId: string
  /** Of the arguments that the page was shown; pages of other protocols have none. */
  argumentsHash?: string
  /** Who holds the call. */
  clientId?: string
}

/** What a page says came of a call. */
export interface ClientResult extends ClientCallRef {
  answer: ClientCallAnswer
}

/** How long a run that goes on has to ask for a call that it has left open, in ms. */
const askAgainMs = 5000

/** Says that this client runs the call, and whether it may. Refuses with 404 `notFound` where it does not wait, 409 `argumentsChanged`. */
export async function claimClientCall(
  live: LiveSession,
  ref: ClientCallRef & { clientId: string },
): Promise<{ loopId: string; claimed: boolean }> {
  const run = await runWithCall(live, ref)
  const pending = await askedIn(run, ref)
  return { loopId: run.loopId, claimed: await run.claimCall(refOf(ref, pending), ref.clientId) }
}

/**
 * Tells a run what came of calls, in order; resolves once that is recorded, with the run that goes on. Where the run has ended `paused`, it is continued first.
 *
 * **Contract**
 * - Only a result for a call that waits for a page counts. Refuses with 404 `notFound` for any other, 409 `argumentsChanged` and `claimedElsewhere`, 400 `invalidBody` for what
 *   is no result.
 */
export async function answerClientCalls(live: LiveSession, results: readonly ClientResult[]): Promise<AgentRun> {
  let run: AgentRun | undefined
  for (const result of results) {
    run = await runWithCall(live, result)
    const pending = await askedIn(run, result)
    await run.answerCall(refOf(result, pending), result.answer, result.clientId)
  }
  return run ?? refuse(400, 'invalidBody', 'There is no result.')
}

/**
 * As `answerClientCalls`, for clients that send results again, and cannot know whether somebody else was faster: what does not wait any more is passed over. Resolves with
 * the run that goes on.
 */
export async function answerOrJoin(live: LiveSession, results: readonly ClientResult[]): Promise<AgentRun> {
  const open = openCalls(await live.agent())
  const own = results.map((result) => ({ ...result, toolCallId: ownId(result.toolCallId, open) }))
  const waiting = own.filter(({ toolCallId }) => open.has(toolCallId))
  if (waiting.length === 0) await assertMade(live, own)
  else {
    try {
      return await answerClientCalls(live, waiting)
    } catch (error) {
      if (!isLate(error)) throw error
    }
  }
  const run = await live.latestRun()
  return run ?? refuse(409, 'nothingToContinue', 'None of these calls waits for a page, and no run is on.')
}

/** AG-UI tells ids that come again apart by a number. */
function ownId(toolCallId: string, open: ReadonlySet<string>): string {
  return open.has(toolCallId) ? toolCallId : toolCallId.replace(/#\d+$/, '')
}

function isKnown(run: AgentRun, toolCallId: string): boolean {
  return run.pendingClientCalls().some((pending) => pending.toolCallId === toolCallId)
}

/** Refuses with 404 results of calls that no model has made. */
async function assertMade(live: LiveSession, results: readonly ClientResult[]): Promise<void> {
  const { messages } = await live.agent()
  const made = new Set(
    messages.flatMap((message) => (message.role === 'assistant' ? callsToAnswer(message.content) : [])).map(({ id }) => id),
  )
  const unknown = results.find(({ toolCallId }) => !made.has(toolCallId))
  if (unknown !== undefined) refuseUnasked(unknown)
}

/** Whether somebody else was faster. */
function isLate(error: unknown): boolean {
  const code = Object(error).problem?.code ?? (ConfigError.isInstance(error) ? error.code : undefined)
  return code === 'unknownCall' || code === 'notFound' || code === 'claimedElsewhere'
}

/** The run in which this call waits, or is about to. Refuses with 404 where the session has no such call without a result. */
async function runWithCall(live: LiveSession, ref: ClientCallRef): Promise<AgentRun> {
  const current = await live.continuedRun()
  if (current === undefined && !(await live.recorded.isKnown())) refuseUnasked(ref)
  const agent = await live.agent()
  const run = agent.currentRun
  if (run !== undefined && isKnown(run, ref.toolCallId)) return run
  if (!openCalls(agent).has(ref.toolCallId)) refuseUnasked(ref)
  if (run !== undefined) return run
  // One that a paused run has left; it is not continued for what is something else.
  const left = agent.pendingClientCalls().find(({ toolCallId }) => toolCallId === ref.toolCallId)
  if (left === undefined) refuseUnasked(ref)
  if (ref.argumentsHash !== undefined && ref.argumentsHash !== left.argumentsHash)
    refuse(409, 'argumentsChanged', 'The call waits with other arguments than those that the page was shown.')
  return live.starts.begin((each) => each.continueLoop())
}

/** Ids of the calls that the last answer made and that have no result. */
function openCalls({ messages }: Agent): Set<string> {
  const open = new Set<string>()
  for (const message of messages.toReversed()) {
    if (message.role === 'user') break
    if (message.role === 'assistant') {
      for (const { id } of callsToAnswer(message.content)) open.add(id)
      for (const later of messages.slice(messages.indexOf(message))) if (later.role === 'toolResult') open.delete(later.toolCallId)
      break
    }
  }
  return open
}

/** The call as this run asks pages for it. One that has just been taken up asks in a moment. Refuses with 404 where it does not. */
async function askedIn(run: AgentRun, ref: ClientCallRef): Promise<PendingClientCall> {
  const waiting = () => run.pendingClientCalls().find(({ toolCallId }) => toolCallId === ref.toolCallId)
  const pending =
    waiting() ??
    (await new Promise<PendingClientCall | undefined>((resolve) => {
      const done = (found?: PendingClientCall): void => {
        leave()
        stopTimer()
        resolve(found)
      }
      const stopTimer = startTimer(askAgainMs, () => done())
      const leave = run.subscribe((event) => {
        if (event.type === 'clientCallRequested' && event.toolCallId === ref.toolCallId) done(waiting())
        const isElse = event.type === 'toolExecutionStart' || event.type === 'approvalRequested'
        if (event.type === 'agentEnd' || (isElse && event.toolCallId === ref.toolCallId)) done()
      })
      if (waiting() !== undefined) done(waiting())
    }))
  return pending ?? refuseUnasked(ref)
}

function refOf({ toolCallId, argumentsHash }: ClientCallRef, pending: PendingClientCall): { toolCallId: string; argumentsHash: string } {
  return { toolCallId, argumentsHash: argumentsHash ?? pending.argumentsHash }
}

function refuseUnasked({ toolCallId }: ClientCallRef): never {
  refuse(
    404,
    'notFound',
    `No call ${JSON.stringify(toolCallId.slice(0, 100))} waits for a page here: it has its result, its time is over, or it was never asked. Drop it; …/client-calls lists those that wait.`,
  )
}
