import { startTimer } from '../../../../src/base/timer.ts'
import { callsToAnswer } from '../../../../src/contract/message/message.ts'
import { type Agent, AgentBusyError, type AgentEvent, type AgentRun, type PendingApproval } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'

/** What a client says a call is. */
export interface CallRef {
  toolCallId: string
  /** Of the arguments that the client was shown; clients of other protocols have none. */
  argumentsHash?: string
}

/** A kind of request that calls wait with. */
interface AskedKind {
  pendingIn(of: Agent | AgentRun): PendingApproval[]
  event: AgentEvent['type']
  /** What the call does instead when it is not asked about. */
  passedBy: readonly AgentEvent['type'][]
}

/** Calls that wait for a page. */
export const forPages: AskedKind = {
  pendingIn: (of) => of.pendingClientCalls(),
  event: 'clientCallRequested',
  passedBy: ['toolExecutionStart', 'approvalRequested'],
}

/** Calls that wait for a person. */
export const forPeople: AskedKind = {
  pendingIn: (of) => of.pendingApprovals(),
  event: 'approvalRequested',
  passedBy: ['toolExecutionStart', 'clientCallRequested'],
}

/** A call that waits, and the run in which it does. */
interface AskedIn {
  run: AgentRun
  pending: PendingApproval
}

/** How long a run that goes on has to ask for a call that it has left open, in ms. */
const askAgainMs = 5000

/** How often a run that was left is continued for one request. */
const mostContinued = 2

/**
 * The call as a run asks for it now. Continues a run that was left `paused`, and waits until a run that was just taken up asks again. Undefined where the call has its
 * result already, or never waited. Refuses with 409 `argumentsChanged`.
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
      // It is not continued for what is something else.
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

/** The ids of all calls that the models of this session have made, in its history so far. */
export function callsMade({ messages }: Agent): Set<string> {
  return new Set(messages.flatMap((message) => (message.role === 'assistant' ? callsToAnswer(message.content) : [])).map(({ id }) => id))
}

/** By what a client tells calls apart whose model repeats an id. */
export interface KnownCalls {
  /** The answer that it shows, and how many steps of it. */
  answer?: { id: string; steps: number } | undefined
  /** Whether its ids have a number, from the second call of an id on. */
  isNumbered?: boolean | undefined
}

/** Whether the model has made another call of the same id since the one that a client means. */
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

/** Whether anything else waits in `run` than what `except` names. */
export function waitsForElse(run: AgentRun, except?: string): boolean {
  return [...forPages.pendingIn(run), ...forPeople.pendingIn(run)].some(({ toolCallId }) => toolCallId !== except)
}

async function continueLeft(live: LiveSession): Promise<void> {
  try {
    await live.starts.begin((agent) => agent.continueLoop())
  } catch (error) {
    // Another request has continued it.
    if (!AgentBusyError.isInstance(error)) throw error
  }
}

function assertSame({ argumentsHash }: CallRef, waiting: PendingApproval): void {
  if (argumentsHash !== undefined && argumentsHash !== waiting.argumentsHash)
    refuse(409, 'argumentsChanged', 'The call waits with other arguments than those that were shown. Show them, and ask again.')
}

/** Whether the last response made this call, and the run has no result for it. The history gets results only when all calls of a step have ended. */
function isOpen({ calls }: LiveSession, { messages }: Agent, run: AgentRun, toolCallId: string): boolean {
  if (calls.hasBegun(run.id, toolCallId)) return false
  const at = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'user')
  const last = messages[at]
  if (last?.role !== 'assistant' || !callsToAnswer(last.content).some(({ id }) => id === toolCallId)) return false
  return !messages.slice(at).some((later) => later.role === 'toolResult' && later.toolCallId === toolCallId)
}

type Outcome = 'asked' | 'passed' | 'ended'

/** What happens first to a call that its run has still to ask about. A run that has ended `paused` has left it. */
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
