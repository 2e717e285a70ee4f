import type { AgentEndEvent, AgentEvent, ChildEvent } from '../../contract/run/event.ts'
import { bodyOf } from '../shared/encoding.ts'
import type { AgUiContentEvent, AgUiEvent } from './ag-ui-event.ts'
import { MessageEvents } from './message-events.ts'
import { CallIds, resultEvent, resultOf } from './to-ag-ui-messages.ts'
import type { TokenCounts } from './token-counts.ts'

type Send = (event: AgUiEvent) => void

/** A nested loop that a tool call started. */
interface SubAgent {
  loopId: string
  /** The run's own call that contains the nested loop. */
  toolCallId: string
  ids: CallIds
  messages: MessageEvents
  send: (event: AgUiContentEvent) => void
}

/**
 * Encodes events of nested loops as sub-agent events. Sends complete messages, because slow readers do not receive deltas of nested loops.
 */
export class SubAgentEvents {
  readonly #running = new Map<string, SubAgent>()
  /** Calls with background loops. */
  readonly #background = new Set<string>()
  readonly #counts: TokenCounts
  readonly #send: Send

  constructor(counts: TokenCounts, send: Send) {
    this.#counts = counts
    this.#send = send
  }

  /** `callId` identifies the call that forwards the event. `parent` is the sub-agent that made this call, if any. */
  take({ toolCallId, toolName, event }: ChildEvent, callId: string, parent?: SubAgent): void {
    if (event.type === 'messageUpdate' || event.type === 'turnRequest') return
    const child =
      this.#running.get(event.loopId) ??
      this.#begin(event.loopId, { toolCallId: parent?.toolCallId ?? toolCallId, toolName, callId, parent })
    switch (event.type) {
      case 'agentEnd':
        this.#end(child, event)
        return
      case 'messageEnd':
        if (event.message.role !== 'assistant') return
        child.messages.begin(event.messageId)
        child.messages.complete(event.message)
        this.#counts.add(event.message)
        return
      case 'toolExecutionEnd': {
        const { toolCallId, result, isError } = event
        child.send(resultEvent(resultOf(child.ids.current(toolCallId), { content: result.content, isError })))
        return
      }
      case 'childEvent':
        this.take(event, child.ids.current(event.toolCallId), child)
        return
      case 'agentStart':
      case 'turnStart':
      case 'turnEnd':
      case 'messageStart':
      case 'toolExecutionStart':
      // The run reports its sub-agents' requests.
      case 'approvalRequested':
      case 'approvalResolved':
      case 'inputRequested':
      case 'inputResolved':
      case 'clientCallRequested':
      case 'clientCallResolved':
        return
      default:
        child.send(noteOf(event))
    }
  }

  /** Marks a call whose task continues in the background. */
  goOn(toolCallId: string): void {
    this.#background.add(toolCallId)
  }

  /** Ends one of the run's calls. Reports its unfinished nested loops as stopped. */
  callEnded(toolCallId: string): void {
    if (!this.#background.has(toolCallId)) this.ended(toolCallId)
  }

  /** Like `callEnded`, but also ends background loops. */
  ended(toolCallId: string): void {
    this.#background.delete(toolCallId)
    for (const child of this.#running.values()) {
      if (child.toolCallId !== toolCallId) continue
      this.#fail(child, 'The sub-agent was stopped.', 'aborted')
    }
  }

  /** Ends the stream while the run continues. */
  suspend(): void {
    for (const { loopId } of this.#running.values()) {
      this.#send({ type: 'SUBAGENT_FINISHED', subagentRunId: loopId, outcome: { type: 'suspended' } })
    }
    this.forget()
  }

  /** Starts a new stream. */
  forget(): void {
    this.#running.clear()
  }

  /** Ends the run. */
  close(): void {
    for (const child of this.#running.values()) this.#fail(child, 'The sub-agent was stopped.', 'aborted')
  }

  #begin(loopId: string, by: { toolCallId: string; toolName: string; callId: string; parent: SubAgent | undefined }): SubAgent {
    const send = (event: AgUiContentEvent) => this.#send({ ...event, subagentRunId: loopId })
    const ids = new CallIds(`${loopId}/`)
    const child: SubAgent = { loopId, toolCallId: by.toolCallId, ids, messages: new MessageEvents(ids, send), send }
    this.#running.set(loopId, child)
    this.#send({
      type: 'SUBAGENT_STARTED',
      subagentRunId: loopId,
      name: by.toolName,
      parentToolCallId: by.callId,
      ...(by.parent !== undefined && { parentSubagentRunId: by.parent.loopId }),
    })
    return child
  }

  #end(child: SubAgent, { status, error, rejection }: AgentEndEvent): void {
    const { loopId } = child
    if (status === 'error' || status === 'rejected' || status === 'aborted') {
      this.#fail(child, error?.message ?? rejection ?? 'The sub-agent was stopped.', error?.code ?? status)
      return
    }
    this.#running.delete(loopId)
    this.#send({ type: 'SUBAGENT_FINISHED', subagentRunId: loopId, outcome: { type: status === 'paused' ? 'suspended' : 'success' } })
  }

  #fail(child: SubAgent, message: string, code: string): void {
    this.#running.delete(child.loopId)
    this.#send({ type: 'SUBAGENT_ERROR', subagentRunId: child.loopId, message, code })
  }
}

/** Encodes an event without an AG-UI equivalent. */
export function noteOf(event: AgentEvent): AgUiEvent & { type: 'CUSTOM' } {
  return { type: 'CUSTOM', name: `phi.${event.type}`, value: bodyOf(event) }
}
