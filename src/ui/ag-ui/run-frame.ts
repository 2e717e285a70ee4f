import type { OutputForm } from '../../contract/model/request-settings.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AgentEvent, SharedStateChangedEvent } from '../../contract/run/event.ts'
import type { AgUiEvent, AgUiMessage, AgUiRunEvent } from './ag-ui-event.ts'
import type { AgUiEncoderOptions } from './encoder-contract.ts'
import { StateEvents } from './shared-state.ts'
import { snapshotOf } from './to-ag-ui-messages.ts'
import { TokenCounts } from './token-counts.ts'

type Said = AgUiMessage & { role: 'user' | 'system' }
/** How a run has ended. */
export type Outcome = (AgUiRunEvent & { type: 'RUN_FINISHED' })['outcome']

/**
 * What frames a response: its one beginning, with what the client has to know first, the steps in it, and its one end.
 *
 * **Contract**: the beginning waits for the first event that is sent, and a step for the first one in it.
 */
export class RunFrame {
  /** Tokens of the answers that were told in this response. */
  readonly counts = new TokenCounts()
  readonly #state: StateEvents
  readonly #write: (event: AgUiEvent) => void
  #thread: { threadId: string; runId: string }
  #isStarted = false
  /** Some of the run was seen in an earlier response. */
  #isLater = false
  /** What the client has to be shown before anything else. */
  #restated: AgUiMessage[] | undefined
  /** What the person said, until the beginning tells it. */
  #said: AgUiMessage[] = []
  /** The turn; `isShown` once its step has begun. */
  #step: { name: string; isShown: boolean } | undefined
  /** Where in its text the answer stands, where the run asks for JSON. */
  form: OutputForm | undefined

  /** `restated` is all that was said, for a client that has not seen it. */
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

  /** The ids of this event stand for those that nobody gave. */
  nameAfter({ sessionId, loopId }: AgentEvent): void {
    if (this.#thread.threadId === '') this.#thread.threadId = sessionId
    if (this.#thread.runId === '') this.#thread.runId = loopId
  }

  /** Whether what a person says begins the response, so that nothing was told yet. */
  get isBeginning(): boolean {
    return !this.#isStarted && !this.#isLater
  }

  /** A person said this before anything was told: the beginning tells it, once. */
  beginWith(said: Said): void {
    if (!this.#said.some(({ id }) => id === said.id)) this.#said.push(said)
  }

  /** Somebody said something while the run goes on. Its text: images of it are in the history alone. */
  say({ id: messageId, role, content }: Said): void {
    const delta = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    this.send({ type: 'TEXT_MESSAGE_START', messageId, role })
    if (delta !== '') this.send({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
    this.send({ type: 'TEXT_MESSAGE_END', messageId })
  }

  /** A change of the shared state. Whether the client can be told: it knows what was changed. */
  stateChanged(event: SharedStateChangedEvent): boolean {
    const told = this.#state.changed(event)
    for (const each of told ?? []) this.send(each)
    return told !== undefined
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

  /** A new response: what was sent so far was seen in another one. */
  forget(): void {
    this.#isStarted = false
    this.#isLater = true
    this.#said = []
    this.#step = undefined
    this.counts.clear()
  }

  /** Only a response that tells the whole run says what was charged to all of it. */
  #usage(totalUsage: Usage | undefined) {
    return this.counts.list(this.#isLater ? undefined : totalUsage)
  }

  #start(): void {
    this.#isStarted = true
    const messages = this.#said
    const restated = this.#restated
    const isTold = messages.length === 0 || restated !== undefined
    const input = isTold ? {} : { input: { ...this.#thread, messages, tools: [] as [], context: [] as [] } }
    this.#write({ type: 'RUN_STARTED', ...this.#thread, protocolVersion: '1.0', ...input })
    if (restated !== undefined) this.#write(snapshotOf([...restated, ...messages]))
    for (const event of this.#state.begin()) this.#write(event)
    this.#restated = undefined
    this.#said = []
    if (this.form !== undefined) this.#write({ type: 'CUSTOM', name: 'phi.output', value: this.form })
  }
}
