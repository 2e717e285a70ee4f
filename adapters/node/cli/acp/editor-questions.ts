import {
  type AgentContext,
  type ClientCapabilities,
  type CreateElicitationRequest,
  CreateElicitationResponse,
  methods,
} from '@agentclientprotocol/sdk'
import type { InputRequestedEvent } from '../../../../src/contract/run/call-event.ts'
import type { AgentEvent, AgentRun, InputAnswer } from '../../../../src/index.ts'

/** The editor connection and the conversation. */
export interface Asked {
  client: AgentContext
  capabilities: ClientCapabilities
  sessionId: string
}

/**
 * Forwards a tool's elicitation request to the editor if the editor supports forms or opening URLs. Otherwise, declines the request. An
 * error or an invalid response cancels the request.
 */
export async function askEditor(run: AgentRun, event: InputRequestedEvent, asked: Asked): Promise<void> {
  const question = questionOf(event, asked)
  const given = question === undefined ? ({ action: 'decline' } as const) : await answerOf(run, event, question, asked.client)
  // The request may have been withdrawn in the meantime.
  if (!run.pendingInputs().some(({ inputId }) => inputId === event.inputId)) return
  try {
    run.answer(event, given)
  } catch {
    // The editor's unvalidated content is not an object or is too deep.
    run.answer(event, { action: 'cancel' })
  }
}

/** Returns a signal that aborts at the first matching event of a run, and a function that stops watching. */
export function untilOver(run: AgentRun, isOver: (event: AgentEvent) => boolean): { signal: AbortSignal; stop: () => void } {
  const over = new AbortController()
  const stop = run.subscribe((event) => {
    if (event.type === 'agentEnd' || isOver(event)) over.abort()
  })
  return { signal: over.signal, stop }
}

function questionOf(
  { inputId, toolCallId, message, schema, url }: InputRequestedEvent,
  { capabilities: { elicitation }, sessionId }: Asked,
): CreateElicitationRequest | undefined {
  const base = { sessionId, toolCallId, message }
  if (url !== undefined) return elicitation?.url ? { ...base, mode: 'url', url, elicitationId: inputId } : undefined
  return elicitation?.form ? { ...base, mode: 'form', requestedSchema: { type: 'object', properties: {}, ...schema } } : undefined
}

async function answerOf(
  run: AgentRun,
  event: InputRequestedEvent,
  question: CreateElicitationRequest,
  client: AgentContext,
): Promise<InputAnswer> {
  const { signal, stop } = untilOver(run, (other) => other.type === 'inputResolved' && other.inputId === event.inputId)
  try {
    const answer = await client.request(methods.client.elicitation.create, question, { cancellationSignal: signal })
    if (answer.action === 'decline') return { action: 'decline' }
    // The server validates the content.
    return CreateElicitationResponse.isAccept(answer) ? { action: 'accept', content: answer.content ?? {} } : { action: 'cancel' }
  } catch {
    return { action: 'cancel' }
  } finally {
    stop()
  }
}
