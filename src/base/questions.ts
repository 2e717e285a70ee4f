import { ConfigError } from '../contract/errors.ts'
import { isObject, type JsonObject } from '../contract/json.ts'
import type { ToolCallContent } from '../contract/message/content.ts'
import { type AgentMessage, callsToAnswer } from '../contract/message/message.ts'
import { inputAction } from '../contract/run/call-event.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { EventBase, PendingApproval, PendingClientCall, PendingInput } from '../contract/run/run-facts.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aJsonObject, aText, options, required } from '../contract/shape/shape.ts'
import type { ApprovalRef, InputAnswer, InputRef } from '../types/run/question.ts'
import { openCallsOf, shownApprovalsOf, shownClientCallsOf } from '../types/tool/open-calls.ts'
import { refuseMore } from './argument-checks.ts'
import { argumentsHash } from './hash.ts'
import { copyJson } from './json/json-value.ts'
import { shortened } from './text/characters.ts'

/** What a run asks somebody outside of it and has no answer to, in the order in which it was asked. */
export interface OpenQuestions {
  readonly approvals: readonly PendingApproval[]
  readonly inputs: readonly PendingInput[]
  readonly clientCalls: readonly PendingClientCall[]
}

/** What is open after `event`; `open` itself where it changes nothing. Whoever goes on with a run asks again: that is one question. */
export function questionsAfter(open: OpenQuestions, event: AgentEvent): OpenQuestions {
  switch (event.type) {
    case 'approvalRequested':
      return { ...open, approvals: [...open.approvals.filter((other) => !isOfSameCall(other, event)), askedIn(event)] }
    case 'approvalResolved':
      return { ...open, approvals: open.approvals.filter((other) => !isOfSameCall(other, event)) }
    case 'inputRequested':
      return { ...open, inputs: [...open.inputs, askedIn(event)] }
    case 'inputResolved':
      return { ...open, inputs: open.inputs.filter(({ inputId }) => inputId !== event.inputId) }
    case 'clientCallRequested':
      return { ...open, clientCalls: [...open.clientCalls.filter((other) => !isOfSameCall(other, event)), askedIn(event)] }
    case 'clientCallResolved':
      return { ...open, clientCalls: open.clientCalls.filter((other) => !isOfSameCall(other, event)) }
    default:
      return open
  }
}

/** What an event asks, without what every event has. */
function askedIn<Asked extends AgentEvent>(event: Asked): Omit<Asked, keyof EventBase | 'type'> {
  const { type: _type, runId: _run, seq: _seq, at: _at, sessionId: _session, loopId: _loop, ...asked } = event
  return asked
}

/** Services repeat the ids of calls: those of sub-agents are apart. */
function isOfSameCall(
  one: Pick<PendingApproval, 'toolCallId' | 'subAgent'>,
  other: Pick<PendingApproval, 'toolCallId' | 'subAgent'>,
): boolean {
  return (
    one.toolCallId === other.toolCallId &&
    one.subAgent?.toolCallId === other.subAgent?.toolCallId &&
    one.subAgent?.loopId === other.subAgent?.loopId
  )
}

/**
 * The calls at the end of a history that wait for a person, as they were shown, in the order of the calls. Those that they hold back are not among
 * them. A process that ended while they waited has not said which were shown: `asks` says which of its calls would be. Default: none.
 */
export function waitingApprovals(messages: readonly AgentMessage[], asks: (toolName: string) => boolean = () => false): PendingApproval[] {
  const permitted = new Set(waitingIn(messages, shownClientCallsOf, () => false).map(({ toolCallId }) => toolCallId))
  return waitingIn(messages, shownApprovalsOf, asks).filter(({ toolCallId }) => !permitted.has(toolCallId))
}

/** As `waitingApprovals`, for the calls that wait for a page. `runs` says which calls it would be asked to run. */
export function waitingClientCalls(
  messages: readonly AgentMessage[],
  runs: (toolName: string) => boolean = () => false,
): PendingClientCall[] {
  const asked = new Set(waitingIn(messages, shownApprovalsOf, () => false).map(({ toolCallId }) => toolCallId))
  return waitingIn(messages, shownClientCallsOf, runs).filter(({ toolCallId }) => !asked.has(toolCallId))
}

function waitingIn(
  messages: readonly AgentMessage[],
  shownIn: (message: AgentMessage) => PendingApproval[],
  asks: (toolName: string) => boolean,
): PendingApproval[] {
  const shown = new Map<string, PendingApproval>()
  const open = new Set<string>()
  const answered = new Set<string>()
  const heldBack = new Set<string>()
  for (const message of messages.toReversed()) {
    if (message.role === 'user') return []
    if (message.role === 'toolResult') answered.add(message.toolCallId)
    if (message.role === 'extension') {
      // What was shown last counts.
      for (const pending of shownIn(message)) if (!shown.has(pending.toolCallId)) shown.set(pending.toolCallId, pending)
      const isKnown = shownApprovalsOf(message).length > 0 || shownClientCallsOf(message).length > 0
      for (const id of openCallsOf(message)) {
        open.add(id)
        if (isKnown) heldBack.add(id)
      }
    }
    if (message.role !== 'assistant') continue
    const calls = callsToAnswer(message.content).filter(({ id }) => open.has(id) && !answered.has(id))
    return calls.flatMap((call) => shown.get(call.id) ?? (asks(call.name) && !heldBack.has(call.id) ? [requestOf(call)] : []))
  }
  return []
}

function requestOf({ id, name, arguments: args }: ToolCallContent): PendingApproval {
  return { toolCallId: id, toolName: name, args, argumentsHash: argumentsHash(args) }
}

/** What an approval names. Throws `ConfigError` `invalidOption` without id or hash: nobody approves what was not shown. */
export function shownRequest(request: ApprovalRef): ApprovalRef {
  const { toolCallId, argumentsHash }: Partial<ApprovalRef> = Object(request)
  if (typeof toolCallId === 'string' && typeof argumentsHash === 'string') return request
  const advice = 'Pass the approvalRequested event, an entry of run.pendingApprovals(), or { toolCallId, argumentsHash }.'
  throw new ConfigError('invalidOption', `An approval is for the request that was shown. ${advice}`)
}

/**
 * The request that a decision is about, of those that wait: by its call, the hash of the arguments that were shown, and the event that showed them
 * where these are given. Throws `ConfigError` `unknownCall`, `argumentsChanged`.
 */
export function requestFor<Request extends PendingApproval & Partial<ApprovalRef>>(
  waiting: readonly Request[],
  { toolCallId, argumentsHash, runId, seq }: Partial<ApprovalRef>,
): Request {
  const ofCall = waiting.filter((request) => request.toolCallId === toolCallId)
  const same = ofCall.filter((request) => argumentsHash === undefined || request.argumentsHash === argumentsHash)
  const found = same.find((request) => isOrUnknown(runId, request.runId) && isOrUnknown(seq, request.seq))
  if (found !== undefined) return found
  const [other] = ofCall
  if (other === undefined || same.length > 0) {
    const waits = 'waits for approval, or for a page. See run.pendingApprovals() and run.pendingClientCalls().'
    throw new ConfigError('unknownCall', `No tool call "${shown(toolCallId)}" ${waits}`)
  }
  const hashes = `hash ${shown(argumentsHash)}, waiting: ${other.argumentsHash}`
  throw new ConfigError(
    'argumentsChanged',
    `What was said of call "${shown(toolCallId)}" is for other arguments (${hashes}). Show the waiting arguments and ask again.`,
  )
}

/** Whoever decides may have sent anything. */
function shown(text: string | undefined): string {
  return shortened(String(text), 100)
}

function isOrUnknown<T>(asked: T | undefined, known: T | undefined): boolean {
  return asked === undefined || known === undefined || asked === known
}

/** The request that an answer is to, of those that wait. Throws `ConfigError` `unknownInput`. */
export function inputFor<Request extends PendingInput>(waiting: readonly Request[], request: InputRef | string): Request {
  const id: unknown = typeof request === 'string' ? request : Object(request).inputId
  const found = waiting.find(({ inputId }) => inputId === id)
  if (found !== undefined) return found
  throw new ConfigError('unknownInput', `No request for input "${id}" waits. See run.pendingInputs().`)
}

const inputAnswer = options<{ action: InputAnswer['action']; content?: JsonObject }>({
  action: required(inputAction),
  content: aJsonObject,
})

/** A copy of an answer. Throws `ConfigError` `invalidOption` for what is none, and for a key that it does not have. */
export function checkedAnswer(given: InputAnswer): InputAnswer {
  if (!isObject(given)) {
    const allowed = "{ action: 'accept', content? } with a JSON object, { action: 'decline' } or { action: 'cancel' }"
    throw new ConfigError('invalidOption', `That is no answer to a request for input. It takes ${allowed}.`)
  }
  checkOptions(given, inputAnswer, 'answer')
  const { action } = given
  if (action !== 'accept' || given.content === undefined) return { action }
  return { action, content: copyJson({ ...given.content }) }
}

const decisionAdvice =
  'It takes the request alone: a call runs with the arguments that were shown. To change them, deny the call and say why.'

/** What an approval names. Throws as {@link shownRequest}, and for arguments after it: none of them would change the call. */
export function approvedRequest(request: ApprovalRef, more: readonly unknown[]): ApprovalRef {
  refuseMore('approve', more, decisionAdvice)
  return shownRequest(request)
}

/** Throws `ConfigError` `invalidOption` for a reason that is no text, and for arguments after it. */
export function checkDenial(reason: unknown, more: readonly unknown[]): void {
  if (reason !== undefined) checkOptions(reason, aText, 'reason')
  refuseMore('deny', more, 'It takes the request, or its id, and a reason.')
}
