import type { ClientCapabilities, ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import type { AgentRun, InputAnswer, JsonObject, PendingApproval, PendingClientCall, PendingInput } from '../../../src/index.ts'
import { escapeControls } from '../../../src/store.ts'

/** Rejects a client tool call immediately, because an MCP client cannot run client tools. */
export function answerWithoutPage(run: AgentRun, call: PendingClientCall): void {
  // The request may have been withdrawn by then.
  void run.answerCall(call, { error: 'No client is available to run this tool.' }).catch(() => undefined)
}

/** Sends an elicitation request to the client. Rejects on timeout, and when the connection closes. */
export type Elicit = (params: object) => Promise<ElicitResult>

/** The elicitation modes that the client supports. */
export interface Asking {
  elicit: Elicit
  capabilities: ClientCapabilities['elicitation']
}

/** Maximum characters of the arguments to show. Longer arguments could hide their effect. */
const maxShown = 8000

/**
 * Forwards a run's approval and input requests to the client's user.
 *
 * **Contract**
 * - Only `approve: true` approves a call. Everything else denies it, for example a client without elicitation, a timeout, or arguments that
 *   are too long to show.
 * - The decision applies only to the shown arguments. Client tools are not supported, so their calls fail.
 *
 * Source: docs/guides/mcp.md
 */
export function askCaller(run: AgentRun, asking: Asking): void {
  run.subscribe((event) => {
    if (event.type === 'approvalRequested') void decide(run, event, asking)
    else if (event.type === 'inputRequested') void answer(run, event, asking)
    else if (event.type === 'clientCallRequested') answerWithoutPage(run, event)
  })
}

async function decide(run: AgentRun, pending: PendingApproval, asking: Asking): Promise<void> {
  // Another client has already decided.
  if (!isPending(run, pending)) return
  const refused = await refusalOf(pending, asking)
  if (!isPending(run, pending)) return
  if (refused === undefined) run.approve(pending)
  else run.deny(pending, refused)
}

function isPending(run: AgentRun, { toolCallId, argumentsHash }: PendingApproval): boolean {
  return run.pendingApprovals().some((each) => each.toolCallId === toolCallId && each.argumentsHash === argumentsHash)
}

/** Returns the reason for a denial, or `undefined` if the user approves the call. */
async function refusalOf({ toolName, args }: PendingApproval, { elicit, capabilities }: Asking): Promise<string | undefined> {
  if (!canFill(capabilities)) return 'it requires user approval, which this client does not support'
  const shown = escapeControls(JSON.stringify(args, undefined, 2))
  if (shown.length > maxShown) return 'its arguments are too long to show to the user'
  try {
    const { action, content } = await elicit(approvalForm(toolName, shown))
    if (action === 'accept' && content?.approve === true) return undefined
    const reason = typeof content?.reason === 'string' ? content.reason : ''
    return reason === '' ? 'the user said no' : reason
  } catch {
    return 'the client returned no decision'
  }
}

function approvalForm(toolName: string, shown: string): ElicitRequestFormParams {
  return {
    mode: 'form',
    message: `The agent wants to run ${toolName} with:\n${shown}`,
    requestedSchema: {
      type: 'object',
      properties: {
        approve: { type: 'boolean', title: 'Let it run', default: false },
        reason: { type: 'string', title: 'If not, why', maxLength: 400 },
      },
      required: ['approve'],
    },
  }
}

async function answer(run: AgentRun, pending: PendingInput, asking: Asking): Promise<void> {
  const given = await answerOf(pending, asking).catch((): InputAnswer => ({ action: 'cancel' }))
  if (run.pendingInputs().some(({ inputId }) => inputId === pending.inputId)) run.answer(pending, given)
}

async function answerOf({ message, schema, url, inputId }: PendingInput, { elicit, capabilities }: Asking): Promise<InputAnswer> {
  if (url !== undefined) {
    if (capabilities?.url === undefined) return { action: 'cancel' }
    const { action } = await elicit({ mode: 'url', message, url, elicitationId: inputId })
    return { action }
  }
  if (!canFill(capabilities)) return { action: 'cancel' }
  const { action, content } = await elicit({ mode: 'form', message, requestedSchema: schema ?? { type: 'object', properties: {} } })
  // The requester validates the value.
  return action === 'accept' ? { action, content: (content ?? {}) as JsonObject } : { action }
}

/** Returns whether the client supports forms. A client that declares elicitation without modes supports forms. */
function canFill(capabilities: Asking['capabilities']): boolean {
  return capabilities !== undefined && (capabilities.form !== undefined || capabilities.url === undefined)
}
