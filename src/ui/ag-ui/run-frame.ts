import type { JsonValue } from '../../contract/json.ts'
import { type DataPart, newestDataIn } from '../../contract/message/data-part.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { OutputForm } from '../../contract/model/request-settings.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AgentEvent, SharedStateChangedEvent } from '../../contract/run/event.ts'
import type { AgUiEvent, AgUiMessage, AgUiRunEvent } from './ag-ui-event.ts'
import type { AgUiEncoderOptions } from './encoder-contract.ts'
import { StateEvents } from './shared-state.ts'
import { type CallIds, snapshotOf, toAgUiMessages } from './to-ag-ui-messages.ts'
import { TokenCounts } from './token-counts.ts'

type PromptMessage = AgUiMessage & { role: 'user' | 'system' }
/** A run's outcome. */
export type Outcome = (AgUiRunEvent & { type: 'RUN_FINISHED' })['outcome']

/** All earlier messages and data parts. */
interface Restated {
  messages: AgUiMessage[]
  data: DataEvent[]
}

/** Encodes all earlier content, for a client without the conversation. */
export function restatedOf(history: readonly AgentMessage[], ids: CallIds): Restated {
  return { messages: toAgUiMessages(history, ids), data: dataEvents(history) }
}

/** Encodes the data parts of a history. */
export function dataEvents(history: readonly AgentMessage[]): DataEvent[] {
  return newestDataIn(history).map((part) => dataEvent(part))
}

type DataEvent = AgUiEvent & { type: 'CUSTOM'; value: { id: string; data: JsonValue; transient?: true } }

/** Whether this is a data part that the history contains. */
export function isStoredData(event: AgUiEvent): event is DataEvent {
  return event.type === 'CUSTOM' && !event.name.startsWith('phi.') && 'id' in event.value && !('transient' in event.value)
}

/** Encodes an application data part. */
export function dataEvent({ name, dataId: id, value: data }: DataPart, transient?: true): DataEvent {
  return { type: 'CUSTOM', name, value: { id, data, ...(transient === true && { transient }) } }
}

/**
 * Encodes the frame of a response: one start with initial data, steps, and one end.
 *
 * **Contract**: sends the start before the first event, and a step's start before the step's first event.
 */
export class RunFrame {
  /** Tokens of the responses in this stream. */
  readonly counts = new TokenCounts()
  readonly #state: StateEvents
  readonly #write: (event: AgUiEvent) => void
  #thread: { threadId: string; runId: string }
  #isStarted = false
  /** Whether an earlier stream already sent part of the run. */
  #isLater = false
  /** Earlier content to send before all other events. */
  #restated: Restated | undefined
  /** User messages to send with the start. */
  #prompts: AgUiMessage[] = []
  /** Data parts, by name and id, until the start sends them after the user messages. */
  readonly #waiting = new Map<string, AgUiEvent>()
  /** The current turn. `isShown` is set after `STEP_STARTED` is sent. */
  #step: { name: string; isShown: boolean } | undefined
  /** Position of the response in its text, if the run has a JSON format. */
  form: OutputForm | undefined

  /** `restated` is all earlier content, for a client without the conversation. */
  constructor(
    { threadId = '', runId = '', sharedState }: AgUiEncoderOptions,
    restated: Restated | undefined,
    write: (event: AgUiEvent) => void,
  ) {
    this.#write = write
    this.#thread = { threadId, runId }
    this.#restated = restated
    this.#state = new StateEvents(sharedState)
  }

  get isStarted(): boolean {
    return this.#isStarted
  }

  send(event: AgUiEvent): void {
    if (!this.#isStarted) this.#start()
    if (this.#step?.isShown === false) {
      this.#step.isShown = true
      this.#write({ type: 'STEP_STARTED', stepName: this.#step.name })
    }
    this.#write(event)
  }

  /** Uses the ids of this event if the caller passed none. */
  nameAfter({ sessionId, loopId }: AgentEvent): void {
    if (this.#thread.threadId === '') this.#thread.threadId = sessionId
    if (this.#thread.runId === '') this.#thread.runId = loopId
  }

  /** Returns whether nothing was sent yet, so that user messages can be part of the start. */
  get isBeginning(): boolean {
    return !this.#isStarted && !this.#isLater
  }

  /** Stores a user message, to send it once with the start. */
  beginWith(prompt: PromptMessage): void {
    if (!this.#prompts.some(({ id }) => id === prompt.id)) this.#prompts.push(prompt)
  }

  /** Sends a data part after the start. */
  data(event: DataEvent): void {
    if (this.isBeginning) this.keep([event])
    else this.send(event)
  }

  /** Sends these data parts with the start. Others replace themselves. */
  keep(events: readonly DataEvent[]): void {
    for (const event of events) this.#waiting.set(`${event.name} ${event.value.id}`, event)
  }

  /** Encodes the text of a user message sent during the run. Only the history contains images. */
  say({ id: messageId, role, content }: PromptMessage): void {
    const delta = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    this.send({ type: 'TEXT_MESSAGE_START', messageId, role })
    if (delta !== '') this.send({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
    this.send({ type: 'TEXT_MESSAGE_END', messageId })
  }

  /** Encodes a shared-state change. Returns false if the client never received a snapshot. */
  stateChanged(event: SharedStateChangedEvent): boolean {
    const events = this.#state.changed(event)
    for (const each of events ?? []) this.send(each)
    return events !== undefined
  }

  beginStep(name: string): void {
    this.#step = { name, isShown: false }
  }

  endStep(): void {
    const step = this.#step
    if (step?.isShown === true) this.send({ type: 'STEP_FINISHED', stepName: step.name })
    this.#step = undefined
  }

  finish(outcome: Outcome, end?: { status: string; totalUsage: Usage | undefined }): void {
    this.endStep()
    const usage = this.#usage(end?.totalUsage)
    this.send({ type: 'RUN_FINISHED', ...this.#thread, ...(end !== undefined && { result: { status: end.status } }), outcome, usage })
  }

  fail(message: string, code: string, totalUsage?: Usage): void {
    this.endStep()
    this.send({ type: 'RUN_ERROR', message, code, usage: this.#usage(totalUsage) })
  }

  /** Starts a new stream after an earlier stream that sent the previous events. */
  forget(): void {
    this.#isStarted = false
    this.#isLater = true
    this.#prompts = []
    this.#step = undefined
    this.counts.clear()
  }

  /** Only a stream that contains the whole run reports the total usage. */
  #usage(totalUsage: Usage | undefined) {
    return this.counts.list(this.#isLater ? undefined : totalUsage)
  }

  #start(): void {
    this.#isStarted = true
    const messages = this.#prompts
    const restated = this.#restated
    const isInputSent = messages.length === 0 || restated !== undefined
    const input = isInputSent ? {} : { input: { ...this.#thread, messages, tools: [] as [], context: [] as [] } }
    this.#write({ type: 'RUN_STARTED', ...this.#thread, protocolVersion: '1.0', ...input })
    if (restated !== undefined) this.#write(snapshotOf([...restated.messages, ...messages]))
    for (const event of restated?.data ?? []) this.#write(event)
    for (const event of this.#state.begin()) this.#write(event)
    for (const event of this.#waiting.values()) this.#write(event)
    this.#restated = undefined
    this.#prompts = []
    this.#waiting.clear()
    if (this.form !== undefined) this.#write({ type: 'CUSTOM', name: 'phi.output', value: this.form })
  }
}
