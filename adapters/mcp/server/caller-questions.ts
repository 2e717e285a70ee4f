import type { ClientCapabilities, ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import type { AgentRun, InputAnswer, JsonObject, PendingApproval, PendingClientCall, PendingInput } from '../../../src/index.ts'
import { escapeControls } from '../../../src/store.ts'

/** Tools of pages have none where this is called: the model is told so at once, as it would wait for nobody. */
export function answerWithoutPage(run: AgentRun, call: PendingClientCall): void {
  // It may have been withdrawn by then.
  void run.answerCall(call, { error: 'No page is there that could run it.' }).catch(() => undefined)
}

/** Asks whoever uses the client. Rejects where nobody answers in time, and when the connection is gone. */
export type Elicit = (params: object) => Promise<ElicitResult>

/** What a client can ask its user. */
export interface Asking {
  elicit: Elicit
  capabilities: ClientCapabilities['elicitation']
}

/** Characters of arguments that a person is shown. What is longer could hide what it does. */
const maxShown = 8000

/**
 * Has the user of the client decide about calls that need approval, and answer what tools ask.
 *
 * **Contract**
 * - Only `approve: true` lets a call run. Anything else is a no: a client that cannot ask, an answer that does not come, arguments too long to be shown.
 * - The answer is bound to the arguments that were shown. Tools of pages have none here: their calls fail.
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
  // Somebody here has decided already.
  if (!isPending(run, pending)) return
  const refused = await refusalOf(pending, asking)
  if (!isPending(run, pending)) return
  if (refused === undefined) run.approve(pending)
  else run.deny(pending, refused)
}

function isPending(run: AgentRun, { toolCallId, argumentsHash }: PendingApproval): boolean {
  return run.pendingApprovals().some((each) => each.toolCallId === toolCallId && each.argumentsHash === argumentsHash)
}

/** Why a call may not run; `undefined` where it may. */
async function refusalOf({ toolName, args }: PendingApproval, { elicit, capabilities }: Asking): Promise<string | undefined> {
  if (!canFill(capabilities)) return 'it needs the approval of a person, and this client cannot ask one'
  const shown = escapeControls(JSON.stringify(args, undefined, 2))
  if (shown.length > maxShown) return 'its arguments are too long to be shown to a person'
  try {
    const { action, content } = await elicit(approvalForm(toolName, shown))
    if (action === 'accept' && content?.approve === true) return undefined
    const reason = typeof content?.reason === 'string' ? content.reason : ''
    return reason === '' ? 'the user said no' : reason
  } catch {
    return 'nobody answered'
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
  // Whoever asked checks it.
  return action === 'accept' ? { action, content: (content ?? {}) as JsonObject } : { action }
}

/** A client that says no more than that it can ask can show forms. */
function canFill(capabilities: Asking['capabilities']): boolean {
  return capabilities !== undefined && (capabilities.form !== undefined || capabilities.url === undefined)
}
