import { startTimer } from '../../../../src/base/timer.ts'
import { callsToAnswer } from '../../../../src/contract/message/message.ts'
import { type Agent, AgentBusyError, type AgentEvent, type AgentRun, type PendingApproval } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'

/** A client's reference to a call. */
export interface CallRef {
  toolCallId: string
  /** Hash of the arguments that the client displayed. Absent in other protocols. */
  argumentsHash?: string
}

/** A kind of pending call. */
interface AskedKind {
  pendingIn(of: Agent | AgentRun): PendingApproval[]
  event: AgentEvent['type']
  /** Events that resolve a call without a request. */
  passedBy: readonly AgentEvent['type'][]
}

/** Pending client tool calls. */
export const forPages: AskedKind = {
  pendingIn: (of) => of.pendingClientCalls(),
  event: 'clientCallRequested',
  passedBy: ['toolExecutionStart', 'approvalRequested'],
}

/** Pending approvals. */
export const forPeople: AskedKind = {
  pendingIn: (of) => of.pendingApprovals(),
  event: 'approvalRequested',
  passedBy: ['toolExecutionStart', 'clientCallRequested'],
}

/** A pending call and its run. */
interface AskedIn {
  run: AgentRun
  pending: PendingApproval
}

/** Maximum milliseconds until a continued run requests an open call again. */
const askAgainMs = 5000

/** Maximum continuations of a paused run per request. */
const mostContinued = 2

/**
 * Returns the pending call in its current form. Continues a paused run, and waits until a resumed run requests the call again. Returns
 * `undefined` if the call has a result or was never pending. Rejects with 409 `argumentsChanged`.
 */
export async function askedCall(live: LiveSession, kind: AskedKind, ref: CallRef): Promise<AskedIn | undefined> {
  const isMeant = ({ toolCallId }: CallRef) => toolCallId === ref.toolCallId
  for (let continued = 0; continued < mostContinued; ) {
    if ((await live.continuedRun()) === undefined && !(await live.recorded.isKnown())) return undefined
    const agent = await live.agent()
    const run = agent.currentRun
    if (run === undefined) {
      const left = kind.pendingIn(agent).find(isMeant)
      if (left === undefined) return undefined
      // Check this first, so that a stale request does not continue the run.
      assertSame(ref, left)
      continued += 1
      await continueLeft(live)
      continue
    }
    const pending = kind.pendingIn(run).find(isMeant)
    if (pending !== undefined) {
      assertSame(ref, pending)
      return { run, pending }
    }
    if (!isOpen(live, agent, run, ref.toolCallId)) return undefined
    if ((await outcomeOf(run, kind, ref.toolCallId)) === 'passed') return undefined
  }
  return undefined
}

/** Returns the ids of all calls in the session's history. */
export function callsMade({ messages }: Agent): Set<string> {
  return new Set(messages.flatMap((message) => (message.role === 'assistant' ? callsToAnswer(message.content) : [])).map(({ id }) => id))
}

/** Information that distinguishes calls with a repeated id. */
export interface KnownCalls {
  /** The response that the client displays, and its number of steps. */
  answer?: { id: string; steps: number } | undefined
  /** Whether repeated ids get a number, starting with the second call. */
  isNumbered?: boolean | undefined
}

/** Returns whether the model has reused the id in a later call than the one that the client refers to. */
export function isOfEarlierCall({ messages }: Agent, toolCallId: string, { answer, isNumbered }: KnownCalls): boolean {
  const responses = messages.filter((message) => message.role === 'assistant')
  const callsOf = (response: (typeof responses)[number], id: string) => callsToAnswer(response.content).filter((call) => call.id === id)
  const makes = (response: (typeof responses)[number]) => callsOf(response, toolCallId).length > 0
  if (isNumbered === true) {
    const [, id = toolCallId, number = 1] = /^(.+)#(\d+)$/.exec(toolCallId) ?? []
    const isWhole = id !== toolCallId && responses.some(makes)
    return !isWhole && responses.flatMap((response) => callsOf(response, id)).length > Number(number)
  }
  const from = responses.findIndex(({ id }) => id === answer?.id)
  if (answer === undefined || from < 0) return false
  const meant = responses[from + answer.steps - 1]
  return meant !== undefined && makes(meant) && responses.slice(from + answer.steps).some(makes)
}

/** Returns whether `run` is waiting for any request other than `except`. */
export function waitsForElse(run: AgentRun, except?: string): boolean {
  return [...forPages.pendingIn(run), ...forPeople.pendingIn(run)].some(({ toolCallId }) => toolCallId !== except)
}

async function continueLeft(live: LiveSession): Promise<void> {
  try {
    await live.starts.begin((agent, own) => agent.continueLoop(own), { continues: true })
  } catch (error) {
    // Another request has continued the run.
    if (!AgentBusyError.isInstance(error)) throw error
  }
}

function assertSame({ argumentsHash }: CallRef, waiting: PendingApproval): void {
  if (argumentsHash !== undefined && argumentsHash !== waiting.argumentsHash)
    refuse(
      409,
      'argumentsChanged',
      'The arguments of the pending call differ from those that were shown. Show the new arguments and ask again.',
    )
}

/**
 * Returns whether the last response made this call and the call has no result yet. The history receives results only when all calls of a
 * step have ended.
 */
function isOpen({ calls }: LiveSession, { messages }: Agent, run: AgentRun, toolCallId: string): boolean {
  if (calls.hasBegun(run.id, toolCallId)) return false
  const at = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'user')
  const last = messages[at]
  if (last?.role !== 'assistant' || !callsToAnswer(last.content).some(({ id }) => id === toolCallId)) return false
  return !messages.slice(at).some((later) => later.role === 'toolResult' && later.toolCallId === toolCallId)
}

type Outcome = 'asked' | 'passed' | 'ended'

/** Resolves with the first event for a call that its run has not requested yet. If the run ends as `paused`, the call stays open. */
function outcomeOf(run: AgentRun, kind: AskedKind, toolCallId: string): Promise<Outcome> {
  const isAsked = () => kind.pendingIn(run).some((pending) => pending.toolCallId === toolCallId)
  return new Promise((resolve) => {
    const done = (outcome: Outcome): void => {
      leave()
      stopTimer()
      resolve(outcome)
    }
    const stopTimer = startTimer(askAgainMs, () => done('passed'))
    const leave = run.subscribe((event) => {
      if (event.type === 'agentEnd') done('ended')
      else if (!('toolCallId' in event) || event.toolCallId !== toolCallId) return
      else if (event.type === kind.event) done('asked')
      else if (kind.passedBy.includes(event.type)) done('passed')
    })
    if (isAsked()) done('asked')
  })
}
