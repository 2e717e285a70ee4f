import { waitingApprovals, waitingClientCalls } from '../../base/questions.ts'
import { PhiError } from '../../contract/errors.ts'
import { type AgentMessage, type AssistantMessage, lastPromptIndex } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AgentEndEvent, AgentEvent, MessageEndEvent, ParallelLoopEndEvent } from '../../contract/run/event.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { isWithheld } from '../shared/encoding.ts'
import { openCallsOf } from '../shared/open-calls.ts'
import { RunFold, type SentPart } from '../shared/run-fold.ts'
import type { AgUiEvent } from './ag-ui-event.ts'
import { CallEvents } from './call-events.ts'
import { type AgUiEncoder, type AgUiEncoderOptions, encoderOptions } from './encoder-contract.ts'
import { outcomeOf } from './interrupts.ts'
import { MessageEvents } from './message-events.ts'
import { dataEvent, dataEvents, isStoredData, RunFrame, restatedOf } from './run-frame.ts'
import { noteOf, SubAgentEvents } from './sub-agent-events.ts'
import { CallIds, snapshotOf, toAgUiMessages, userMessageOf } from './to-ag-ui-messages.ts'

/**
 * Creates an encoder of a run for AG-UI 1.0 clients.
 *
 * **Contract**
 * - Pass every event, starting with the first event of the run. Use one encoder per response. The output begins with `RUN_STARTED` and ends
 *   with `RUN_FINISHED` or `RUN_ERROR`. Every start has an end, and no delta is empty.
 * - `RUN_STARTED` contains the prompt in `input.messages`, so that other connected clients receive the prompt.
 * - Ids match those of `toAgUiMessages`. Sub-agent messages are sent when they are complete.
 * - With `sharedState`, the state is sent first, and each later change as `STATE_DELTA`.
 * - If streamed arguments are repaired, a `MESSAGES_SNAPSHOT` of the conversation replaces them.
 * - An event without a counterpart becomes `CUSTOM` with a `phi.` name.
 * - The encoder stores the run's messages, the open block and the open calls. Pure. Throws only for unknown options.
 *
 * Source: docs/reference/ui-protocols.md
 *
 * @example
 * ```ts
 * const encoder = agUiEncoder({ history: agent.messages, threadId, runId })
 * for await (const event of run) for (const each of encoder.encode(event)) write(agUiSse(each))
 * ```
 */
export function agUiEncoder(options: AgUiEncoderOptions = {}): AgUiEncoder {
  checkOptions(options, encoderOptions)
  return new Encoder(options)
}

class Encoder extends RunFold<AgUiEvent> implements AgUiEncoder {
  readonly #cost: AgUiEncoderOptions['cost']
  readonly #ids = new CallIds()
  readonly #frame: RunFrame
  readonly #subAgents: SubAgentEvents
  protected readonly calls: CallEvents
  protected readonly message: MessageEvents
  /** Messages of the conversation so far, by id. */
  readonly #messagesById = new Map<string, AgentMessage>()
  /** The `parallelLoopStart` event, until the user messages are sent. */
  #announced: AgentEvent | undefined

  constructor(options: AgUiEncoderOptions) {
    super(options)
    const { history = [], restate = false, sentResults = [], cost } = options
    const { approvals = waitingApprovals(history), clientCalls = waitingClientCalls(history) } = options
    this.#cost = cost
    for (const message of history) this.#messagesById.set(message.id, message)
    const restated = restatedOf(history, this.#ids)
    this.#frame = new RunFrame(options, restate ? restated : undefined, (event) => this.out.push(event))
    const send = (event: AgUiEvent) => this.#frame.send(event)
    this.#subAgents = new SubAgentEvents(this.#frame.counts, send)
    this.calls = new CallEvents(this.#ids, this.#subAgents, send, sentResults)
    this.message = new MessageEvents(this.#ids, send)
    const open = openCallsOf(history)
    for (const call of open) this.calls.written(call)
    if (open.length > 0 && !restate) this.#frame.keep(dataEvents(history.slice(lastPromptIndex(history) + 1)))
    for (const pending of [...approvals, ...clientCalls]) this.calls.left(pending)
  }

  /** Keeps data parts, because a client lacks those that were sent while its run waited. */
  override skip(event: AgentEvent): void {
    super.skip(event)
    this.#frame.keep(this.out.filter(isStoredData))
  }

  protected override forget(): void {
    this.#frame.forget()
    this.message.forget()
    this.#subAgents.forget()
  }

  protected override suspended(): void {
    this.#subAgents.suspend()
    this.#finish(outcomeOf(this.calls.interrupts()))
  }

  protected override brokenOff(cause: { error: unknown } | undefined): void {
    if (cause === undefined) this.#fail('The event stream ended before the run. Reconnect.', 'interrupted')
    else if (PhiError.isInstance(cause.error)) this.#fail(cause.error.message, cause.error.code)
    else this.#fail('The event stream of the run failed.', 'stream')
  }

  protected override take(event: AgentEvent): void {
    if (event.type !== 'messageUpdate') this.#frame.nameAfter(event)
    // The state belongs to the session, regardless of which branch changed it.
    if (event.type === 'sharedStateChanged') this.other(event)
    else super.take(event)
  }

  protected override other(event: AgentEvent): void {
    switch (event.type) {
      case 'agentStart':
        this.#frame.form = event.configSnapshot.output
        return
      case 'turnStart':
        this.#frame.beginStep(`turn ${event.turnIndex}`)
        return
      case 'inputRejected':
      case 'turnRequest':
        return
      case 'sharedStateChanged':
        if (this.#frame.stateChanged(event)) return
        break
      case 'parallelLoopStart':
        this.#announced = event
        return
      case 'childEvent':
        if (!isWithheld(event, {})) this.#subAgents.take(event, this.#ids.current(event.toolCallId))
        return
      case 'backgroundStart':
        this.#subAgents.goOn(event.toolCallId)
        break
      case 'backgroundEnd':
        this.#subAgents.ended(event.toolCallId)
    }
    // Events without an AG-UI equivalent, including events from newer versions.
    this.#frame.send(noteOf(event))
  }

  protected override data(part: SentPart): void {
    this.#frame.data(dataEvent(part, part.transient))
  }

  protected override turnEnded(): void {
    this.#frame.endStep()
  }

  protected override heard({ messageId, message }: MessageEndEvent): void {
    this.#messagesById.set(messageId, { ...message, id: messageId })
    if (message.role !== 'user') return
    const prompt = userMessageOf({ ...message, id: messageId })
    if (this.#frame.isBeginning) {
      this.calls.clear()
      this.#frame.beginWith(prompt)
    } else this.#frame.say(prompt)
  }

  protected override answered(messageId: string, message: AssistantMessage): void {
    this.#messagesById.set(messageId, { ...message, id: messageId })
    if (this.message.isChanged) this.#frame.send(snapshotOf(toAgUiMessages([...this.#messagesById.values()])))
    this.#frame.counts.add(message)
    const { model, provider, usage, stopReason } = message
    const costUsd = this.#cost?.(message)
    const value = { messageId, model, provider, usage, stopReason, ...(costUsd !== undefined && { costUsd }) }
    this.#frame.send({ type: 'CUSTOM', name: 'phi.usage', value })
  }

  protected override ended(event: AgentEndEvent): void {
    const { status, error, rejection, limit, totalUsage, costUsd } = event
    if (costUsd !== undefined) this.#frame.send({ type: 'CUSTOM', name: 'phi.cost', value: { costUsd } })
    if (error !== undefined || rejection !== undefined) {
      this.#fail(error?.message ?? rejection ?? status, error?.code ?? status, totalUsage)
      return
    }
    if (status === 'paused') {
      this.calls.pause(event)
      this.#subAgents.suspend()
      this.#finish(outcomeOf(this.calls.interrupts()), { status, totalUsage })
      return
    }
    if (limit !== undefined) this.#frame.send({ type: 'CUSTOM', name: 'phi.limit', value: limit })
    this.calls.close()
    this.#finish({ type: status === 'aborted' ? 'cancelled' : 'success' }, { status, totalUsage })
  }

  #finish(outcome: ReturnType<typeof outcomeOf>, end?: { status: string; totalUsage: Usage | undefined }): void {
    this.message.close()
    this.#subAgents.close()
    this.#frame.finish(outcome, end)
    this.isEnded = true
  }

  #fail(message: string, code: string, totalUsage?: Usage): void {
    this.message.close()
    this.#subAgents.close()
    this.#frame.fail(message, code, totalUsage)
    this.isEnded = true
  }

  protected override branched(event: AgentEvent): void {
    if (event.type === 'messageEnd' && event.message.role === 'user' && !this.#frame.isStarted) {
      // All branches respond to the same prompt.
      this.#frame.beginWith(userMessageOf({ ...event.message, id: event.messageId }))
      return
    }
    if (event.type === 'messageStart' && event.message.role === 'user') return
    if (this.#announced === undefined || event.type === 'agentStart' || event.type === 'turnStart') return
    this.#frame.send(noteOf(this.#announced))
    this.#announced = undefined
  }

  protected override choosing(event: ParallelLoopEndEvent): void {
    this.#frame.send(noteOf(event))
    this.calls.clear()
  }

  protected override chosen(): void {
    this.calls.close()
    this.#finish({ type: 'success' })
  }
}
