import { ConfigError } from '../contract/errors.ts'
import { isObject, type JsonObject } from '../contract/json.ts'
import type { ToolCallContent } from '../contract/message/content.ts'
import { type AgentMessage, callsToAnswer } from '../contract/message/message.ts'
import { inputAction } from '../contract/run/call-event.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { EventBase, PendingApproval, PendingClientCall, PendingInput } from '../contract/run/run-facts.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFlag, aJsonObject, aText, options, required } from '../contract/shape/shape.ts'
import type { ApprovalRef, ApproveOptions, InputAnswer, InputRef } from '../types/run/question.ts'
import { openCallsOf, shownApprovalsOf, shownClientCallsOf } from '../types/tool/open-calls.ts'
import { refuseMore } from './argument-checks.ts'
import { argumentsHash } from './hash.ts'
import { copyJson } from './json/json-value.ts'
import { shortened } from './text/characters.ts'

/** A run's open requests, in order. */
export interface OpenQuestions {
  readonly approvals: readonly PendingApproval[]
  readonly inputs: readonly PendingInput[]
  readonly clientCalls: readonly PendingClientCall[]
}

/**
 * Returns the open requests after `event`, or the same list if unchanged. Counts each request once, because a continued run sends its
 * requests again.
 */
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

/** Returns the request in an event, without the common fields. */
function askedIn<Asked extends AgentEvent>(event: Asked): Omit<Asked, keyof EventBase | 'type'> {
  const { type: _type, runId: _run, seq: _seq, at: _at, sessionId: _session, loopId: _loop, ...asked } = event
  return asked
}

/** Returns whether two requests are for the same call. Distinguishes sub-agents, because providers reuse call ids. */
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
 * Returns the calls with a pending approval at the end of a history, as they were displayed, in call order. Excludes calls that wait for
 * these calls. If the process ended before it recorded its requests, `asks` selects the tools that require an approval. Default: none.
 */
export function waitingApprovals(messages: readonly AgentMessage[], asks: (toolName: string) => boolean = () => false): PendingApproval[] {
  const permitted = new Set(waitingIn(messages, shownClientCallsOf, () => false).map(({ toolCallId }) => toolCallId))
  return waitingIn(messages, shownApprovalsOf, asks).filter(({ toolCallId }) => !permitted.has(toolCallId))
}

/** Like `waitingApprovals`, for client tool calls. `runs` selects the calls that a client runs. */
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
      // The last request for a call wins.
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

/** Parses an approval reference. Throws `ConfigError` `invalidOption` without id or hash, so that only displayed calls can be approved. */
export function shownRequest(request: ApprovalRef): ApprovalRef {
  const { toolCallId, argumentsHash }: Partial<ApprovalRef> = Object(request)
  if (typeof toolCallId === 'string' && typeof argumentsHash === 'string') return request
  const advice = 'Pass the approvalRequested event, an entry of run.pendingApprovals(), or { toolCallId, argumentsHash }.'
  throw new ConfigError('invalidOption', `The approval does not identify the request that was shown. ${advice}`)
}

/**
 * Finds the pending request for a decision by call, hash of the displayed arguments and, if set, the event that announced the request.
 * Throws `ConfigError` `unknownCall` or `argumentsChanged`.
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
    const waits = 'is pending. See run.pendingApprovals() and run.pendingClientCalls().'
    throw new ConfigError('unknownCall', `No tool call "${shown(toolCallId)}" ${waits}`)
  }
  const hashes = `hash ${shown(argumentsHash)}, pending: ${other.argumentsHash}`
  throw new ConfigError(
    'argumentsChanged',
    `The decision for call "${shown(toolCallId)}" is for other arguments (${hashes}). Show the pending arguments and ask again.`,
  )
}

/** Formats an id from a decision for an error message. A decision is untrusted input. */
function shown(text: string | undefined): string {
  return shortened(String(text), 100)
}

function isOrUnknown<T>(asked: T | undefined, known: T | undefined): boolean {
  return asked === undefined || known === undefined || asked === known
}

/** Finds the pending user input request for a response. Throws `ConfigError` `unknownInput`. */
export function inputFor<Request extends PendingInput>(waiting: readonly Request[], request: InputRef | string): Request {
  const id: unknown = typeof request === 'string' ? request : Object(request).inputId
  const found = waiting.find(({ inputId }) => inputId === id)
  if (found !== undefined) return found
  throw new ConfigError('unknownInput', `No input request "${id}" is pending. See run.pendingInputs().`)
}

const inputAnswer = options<{ action: InputAnswer['action']; content?: JsonObject }>({
  action: required(inputAction),
  content: aJsonObject,
})

/** Copies a response. Throws `ConfigError` `invalidOption` for an invalid response and for unknown keys. */
export function checkedAnswer(given: InputAnswer): InputAnswer {
  if (!isObject(given)) {
    const allowed = "{ action: 'accept', content? } with a JSON object, { action: 'decline' } or { action: 'cancel' }"
    throw new ConfigError('invalidOption', `Invalid answer to an input request. Pass ${allowed}.`)
  }
  checkOptions(given, inputAnswer, 'answer')
  const { action } = given
  if (action !== 'accept' || given.content === undefined) return { action }
  return { action, content: copyJson({ ...given.content }) }
}

const approveOptions = options<ApproveOptions>({ arguments: aJsonObject, by: aText, tellModel: aFlag })

/** Throws `ConfigError` `invalidOption` for invalid or unknown approval options, and for extra arguments. */
export function checkApproval(given: ApproveOptions, more: readonly unknown[]): void {
  checkOptions(given, approveOptions, 'approve')
  refuseMore('approve', more, 'Pass the request and the options.')
}

/** Throws `ConfigError` `invalidOption` for a reason that is not a string, and for extra arguments. */
export function checkDenial(reason: unknown, more: readonly unknown[]): void {
  if (reason !== undefined) checkOptions(reason, aText, 'reason')
  refuseMore('deny', more, 'Pass the request or its id, and a reason.')
}
