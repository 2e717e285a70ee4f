import type { AgentEndEvent } from '../../contract/run/event.ts'
import { type CallEvent, type CallResult, type EndedCall, OpenCalls } from '../shared/open-calls.ts'
import type { AgUiEvent, AgUiInterrupt } from './ag-ui-event.ts'
import { interruptOf } from './interrupts.ts'
import { noteOf, type SubAgentEvents } from './sub-agent-events.ts'
import { type CallIds, notRun, resultEvent, resultOf } from './to-ag-ui-messages.ts'

/** Encodes tool-call results. All other call events become `CUSTOM` events. */
export class CallEvents extends OpenCalls {
  readonly #ids: CallIds
  readonly #subAgents: SubAgentEvents
  readonly #send: (event: AgUiEvent) => void
  readonly #sentResults: readonly string[]

  /** `sentResults`: ids of the calls whose results the client submitted. */
  constructor(ids: CallIds, subAgents: SubAgentEvents, send: (event: AgUiEvent) => void, sentResults: readonly string[]) {
    super()
    this.#ids = ids
    this.#subAgents = subAgents
    this.#send = send
    this.#sentResults = sentResults
  }

  override take(event: CallEvent): void {
    if (event.type !== 'toolExecutionStart' && event.type !== 'toolExecutionEnd') this.#send(noteOf(event))
    super.take(event)
  }

  protected override showResult({ toolCallId, result, isError, outcome }: CallResult, { call }: EndedCall): void {
    // Messages do not contain calls from sub-agents and branches.
    if (call?.parent !== undefined) return
    this.#subAgents.callEnded(toolCallId)
    // The displayed history contains results created before this run.
    if (call === undefined && outcome !== undefined) return
    const resultMessage = resultOf(this.#ids.current(toolCallId), {
      content: result.content,
      isError,
      ...(outcome !== undefined && { outcome }),
    })
    if (!this.#sentResults.includes(resultMessage.toolCallId)) this.#send(resultEvent(resultMessage))
  }

  /** Ends the run. Sends a result for each open call, because clients treat a call without a result as a client tool call. */
  close(): void {
    for (const { toolCallId, parent } of this.values())
      if (parent === undefined) this.#send(resultEvent(notRun(this.#ids.current(toolCallId))))
    this.clear()
  }

  /** Encodes the calls that are pending when a run ends. */
  pause({ pendingApprovals = [], pendingClientCalls = [] }: AgentEndEvent): void {
    for (const pending of pendingApprovals) this.asked(this.of(pending), pending)
    for (const pending of pendingClientCalls) this.handedOut(this.of(pending), pending)
  }

  /** Encodes the pending approvals. */
  interrupts(): AgUiInterrupt[] {
    const asked = [...this.values()].filter(({ state, isForPage }) => state === 'asked' && isForPage !== true)
    return asked.map((call) => interruptOf(call, call.parent === undefined ? this.#ids.current(call.toolCallId) : call.key))
  }
}
