import type { AgentEndEvent, AgentEvent, ChildEvent } from '../../contract/run/event.ts'
import { bodyOf } from '../shared/encoding.ts'
import type { AgUiContentEvent, AgUiEvent } from './ag-ui-event.ts'
import { MessageEvents } from './message-events.ts'
import { CallIds, resultEvent, resultOf } from './to-ag-ui-messages.ts'
import type { TokenCounts } from './token-counts.ts'

type Send = (event: AgUiEvent) => void

/** A loop that a call has started. */
interface SubAgent {
  loopId: string
  /** The call of the run itself. */
  toolCallId: string
  ids: CallIds
  messages: MessageEvents
  send: (event: AgUiContentEvent) => void
}

/**
 * Turns what calls report of their loops into the events of sub-agents. What one says is shown whole at the end of each message: deltas of a loop
 * are left out where a reader is slow.
 */
export class SubAgentEvents {
  readonly #running = new Map<string, SubAgent>()
  /** Calls whose loops go on beside the run. */
  readonly #beside = new Set<string>()
  readonly #counts: TokenCounts
  readonly #send: Send

  constructor(counts: TokenCounts, send: Send) {
    this.#counts = counts
    this.#send = send
  }

  /** `callId` is that of the call which reports; `parent` the sub-agent that made it. */
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
      // The run itself asks for the calls of its sub-agents.
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

  /** What the call started goes on when it is over. */
  goOn(toolCallId: string): void {
    this.#beside.add(toolCallId)
  }

  /** A call of the run is over: what it started and did not report the end of was cut off. */
  callEnded(toolCallId: string): void {
    if (!this.#beside.has(toolCallId)) this.ended(toolCallId)
  }

  /** As `callEnded`, also of what went on beside the run. */
  ended(toolCallId: string): void {
    this.#beside.delete(toolCallId)
    for (const child of this.#running.values()) {
      if (child.toolCallId !== toolCallId) continue
      this.#fail(child, 'The sub-agent was stopped.', 'aborted')
    }
  }

  /** The response ends while the run goes on. */
  suspend(): void {
    for (const { loopId } of this.#running.values()) {
      this.#send({ type: 'SUBAGENT_FINISHED', subagentRunId: loopId, outcome: { type: 'suspended' } })
    }
    this.forget()
  }

  /** The client begins a new response: nothing has begun in it. */
  forget(): void {
    this.#running.clear()
  }

  /** The run is over. */
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

/** An event without a counterpart. */
export function noteOf(event: AgentEvent): AgUiEvent & { type: 'CUSTOM' } {
  return { type: 'CUSTOM', name: `phi.${event.type}`, value: bodyOf(event) }
}
