import type { OutputForm } from '../../contract/model/request-settings.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AgentEvent, SharedStateChangedEvent } from '../../contract/run/event.ts'
import type { AgUiEvent, AgUiMessage, AgUiRunEvent } from './ag-ui-event.ts'
import type { AgUiEncoderOptions } from './encoder-contract.ts'
import { StateEvents } from './shared-state.ts'
import { snapshotOf } from './to-ag-ui-messages.ts'
import { TokenCounts } from './token-counts.ts'

type PromptMessage = AgUiMessage & { role: 'user' | 'system' }
/** The end of a run. */
export type Outcome = (AgUiRunEvent & { type: 'RUN_FINISHED' })['outcome']

/**
 * Encodes the frame of a response: one start with initial data, steps, and one end.
 *
 * **Contract**: the start waits for the first event, and a step for its first event.
 */
export class RunFrame {
  /** Tokens of the responses in this stream. */
  readonly counts = new TokenCounts()
  readonly #state: StateEvents
  readonly #write: (event: AgUiEvent) => void
  #thread: { threadId: string; runId: string }
  #isStarted = false
  /** Whether a part of the run was sent in an earlier stream. */
  #isLater = false
  /** Events that precede everything else. */
  #restated: AgUiMessage[] | undefined
  /** User messages, until the start sends them. */
  #prompts: AgUiMessage[] = []
  /** The turn; `isShown` after its step has started. */
  #step: { name: string; isShown: boolean } | undefined
  /** Position of the response in its text, if the run has a JSON format. */
  form: OutputForm | undefined

  /** `restated` are all earlier messages, for a client that has none. */
  constructor(
    { threadId = '', runId = '', sharedState }: AgUiEncoderOptions,
    restated: AgUiMessage[] | undefined,
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

  /** Adopts the ids of this event if none were given. */
  nameAfter({ sessionId, loopId }: AgentEvent): void {
    if (this.#thread.threadId === '') this.#thread.threadId = sessionId
    if (this.#thread.runId === '') this.#thread.runId = loopId
  }

  /** Returns whether user messages start the stream, before anything else was sent. */
  get isBeginning(): boolean {
    return !this.#isStarted && !this.#isLater
  }

  /** Records a user message before the start, which sends it once. */
  beginWith(prompt: PromptMessage): void {
    if (!this.#prompts.some(({ id }) => id === prompt.id)) this.#prompts.push(prompt)
  }

  /** Encodes a user message during the run: its text. Images are only in the history. */
  say({ id: messageId, role, content }: PromptMessage): void {
    const delta = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    this.send({ type: 'TEXT_MESSAGE_START', messageId, role })
    if (delta !== '') this.send({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
    this.send({ type: 'TEXT_MESSAGE_END', messageId })
  }

  /** Encodes a change of the shared state. Returns whether the client knows the previous state. */
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

  /** Starts a new stream: earlier events were sent in another one. */
  forget(): void {
    this.#isStarted = false
    this.#isLater = true
    this.#prompts = []
    this.#step = undefined
    this.counts.clear()
  }

  /** Only a stream with the whole run reports the total usage. */
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
    if (restated !== undefined) this.#write(snapshotOf([...restated, ...messages]))
    for (const event of this.#state.begin()) this.#write(event)
    this.#restated = undefined
    this.#prompts = []
    if (this.form !== undefined) this.#write({ type: 'CUSTOM', name: 'phi.output', value: this.form })
  }
}
