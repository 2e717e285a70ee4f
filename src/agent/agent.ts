import { queueAdvice, refuseMore } from '../base/argument-checks.ts'
import { AgentBusyError } from '../contract/errors.ts'
import type { AgentMessage, MessageInput, PromptInput } from '../contract/message/message.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { PendingApproval, PendingClientCall } from '../contract/run/run-facts.ts'
import type { AgentSnapshot } from '../contract/session/snapshot.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { anObject } from '../contract/shape/shape.ts'
import { continuationOf, type LoopStart } from '../loop/agent-loop.ts'
import { toMessages } from '../loop/intake.ts'
import type { DataSchemas, TypesOfData } from '../types/run/data.ts'
import type { AgentRun, Receipt } from '../types/run/run.ts'
import type { SessionJournal } from '../types/session/session-store.ts'
import type { SharedState, SharedStateRules } from '../types/session/shared-state.ts'
import type { AgentTool, ContextOf } from '../types/tool/tool.ts'
import type { TypesOfTools } from '../types/tool/typed-tool.ts'
import { AgentListeners } from './agent-listeners.ts'
import {
  type AgentOptions,
  type AgentSettings,
  type CompactOptions,
  checkAgentOptions,
  checkCompactOptions,
  checkNewSession,
  checkSettings,
  type NewSessionOptions,
  type PromptOptions,
  type RunArguments,
} from './agent-options.ts'
import { type EffectiveSettings, effectiveSettings, noteGiven, withOwnTools } from './agent-settings.ts'
import { beginRun, continuationStart, promptStart, type RunStart, sendStart } from './begin-run.ts'
import { extraTools } from './choices.ts'
import { Conversation, settingsOf, snapshotCopy } from './conversation.ts'
import { MessageQueue } from './message-queue.ts'
import type { RunHandle } from './run-handle.ts'

/**
 * A conversation with a model that can use tools: one history, one model, one run at a time. `Output` is the output type of
 * `responseFormat`. `Tools` and `Data` contain types for clients: see `InferTools`, `InferData`. `Context` is the type of `context`.
 *
 * **Contract**
 * - `prompt` and `continueLoop` return immediately. During a run they throw `AgentBusyError` and change nothing.
 * - Settings may change at any time and apply from the next run. The history may change only between runs.
 * - Every prompt sends the whole history, in order.
 *
 * Source: docs/concepts/agent-and-run.md
 *
 * @example
 * ```ts
 * const agent = new Agent({ model: anthropic('claude-sonnet-4-6', { apiKey }), tools: [weather] })
 * for await (const event of agent.prompt('Will it rain in Oslo?')) console.log(event.type)
 * ```
 */
export class Agent<
  Output = unknown,
  Tools extends readonly AgentTool[] = readonly AgentTool[],
  Context = ContextOf<Tools>,
  Data extends DataSchemas = DataSchemas,
  Default = undefined,
> {
  // Phantom properties for type inference. Never set at runtime.
  declare readonly '~tools'?: TypesOfTools<Tools[number]>
  declare readonly '~data'?: TypesOfData<Data>
  #settings: AgentSettings<Output>
  #effective: EffectiveSettings<Output> | undefined
  readonly #conversation: Conversation
  readonly #steering = new MessageQueue()
  readonly #followUps = new MessageQueue()
  readonly #listeners = new AgentListeners()
  readonly #owned: readonly { close(): unknown }[]
  #run: RunHandle | undefined

  /** Throws `ConfigError` without a model, or for an invalid option. */
  constructor(options: AgentOptions<Output, Tools, Context, Data> & { context?: Default & ContextOf<Tools> }) {
    checkAgentOptions(options)
    const { messages = [], agentId, sessionId, owns = [], sharedState, ...settings } = options
    this.#owned = owns
    this.#settings = withOwnTools(settings)
    noteGiven(this, this.#settings)
    this.#conversation = new Conversation(messages, agentId, sessionId)
    if (sharedState !== undefined) this.#share(sharedState)
  }

  // Running

  /** Sends input to the model and returns the run. Throws `AgentBusyError`, and `ConfigError` `emptyPrompt` for input without content. */
  prompt<Answer = Output>(input: PromptInput, ...[options = {}]: RunArguments<Answer, Context, Default>): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    return this.#begin(promptStart(toMessages(input)), options)
  }

  /**
   * Continues from the current history: after a failed or aborted response, after appended messages, or after a `paused` run. Uses the
   * settings and `context` of the unfinished prompt, overridden by `options`. Throws `AgentBusyError`, and `ConfigError` if nothing is
   * left.
   */
  continueLoop<Answer = Output>(options: PromptOptions<Answer, Context> = {}): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    return this.#begin({ ...continuationStart(continuationOf(this.#conversation.context)), goesOn: true }, options)
  }

  /**
   * Sends input regardless of the last message: prompts after a finished response, otherwise continues. Requests pending approvals first,
   * then sends `input`. Throws like `prompt`.
   */
  send<Answer = Output>(input: PromptInput, ...[options = {}]: RunArguments<Answer, Context, Default>): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    return this.#begin(sendStart(toMessages(input), this.#conversation.context), options)
  }

  /** Compacts the context now, as a run of kind `compaction`. `focusMessage` is the summary's focus. Throws `AgentBusyError`. */
  compact(options: CompactOptions = {}): AgentRun {
    this.#assertIdle()
    checkCompactOptions(options)
    const { focusMessage, ...others } = options
    const start: LoopStart = { type: 'compaction', ...(focusMessage !== undefined && { focusMessage }) }
    return this.#begin({ start, kind: { kind: 'compaction' } }, others)
  }

  /**
   * Generates a new response to the last user message, or to the user message at or before `messageId`, as a run of kind `rerun`.
   * - Removes all later messages from the history. A session keeps them in its tree.
   * - Uses the model and settings of the original prompt, overridden by `options`.
   * - Throws like `continueLoop`, and `ConfigError` `emptyHistory` or `unknownMessage`. On an error, nothing changes.
   */
  regenerate<Answer = Output>(...[given = {}]: RunArguments<Answer, Context, Default, { messageId?: string }>): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    checkOptions(given, anObject)
    const { messageId, ...options } = given
    const at = this.#conversation.lastPromptAt(messageId)
    const asked = this.#conversation.askedAt(at)
    return this.#conversation.rewound(at + 1, () => {
      const start = continuationStart(continuationOf(this.#conversation.context))
      return this.#begin({ ...start, goesOn: true, asked }, { kind: { kind: 'rerun', tag: 'regenerate' }, ...options })
    })
  }

  /**
   * Replaces the user message `messageId` by `input` and prompts again, as a run of kind `branch`.
   * - Removes the message and all later messages from the history. A session keeps them in its tree.
   * - Uses the model and settings of the original prompt, as `regenerate` does.
   * - Throws like `prompt`, and `ConfigError` `unknownMessage`. On an error, nothing changes.
   */
  editAndResend<Answer = Output>(
    messageId: string,
    input: PromptInput,
    ...[options = {}]: RunArguments<Answer, Context, Default>
  ): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    const at = this.#conversation.userMessageAt(messageId)
    const start = { ...promptStart(toMessages(input)), asked: this.#conversation.askedAt(at) }
    return this.#conversation.rewound(at, () => this.#begin(start, { kind: { kind: 'branch', tag: 'edit' }, ...options }))
  }

  /** True from `prompt` until `agentEnd`. */
  get isStreaming(): boolean {
    return this.#run !== undefined
  }

  /** The running run, if any. */
  get currentRun(): AgentRun | undefined {
    return this.#run
  }

  /** Longest timeout of the running tools, in milliseconds. `undefined` if no tool is running or a running tool has no timeout. */
  get currentToolTimeoutMs(): number | undefined {
    return this.#run?.currentToolTimeoutMs
  }

  /** Returns the pending approvals of the current or last run. `continueLoop` requests them again. */
  pendingApprovals(): PendingApproval[] {
    return this.#run?.pendingApprovals() ?? this.#conversation.pendingApprovals(this.#settings.tools ?? [])
  }

  /** Returns the pending client tool calls of the current or last run. */
  pendingClientCalls(): PendingClientCall[] {
    return this.#run?.pendingClientCalls() ?? this.#conversation.pendingClientCalls(this.#allTools)
  }

  /** Stops waiting for approvals and input: the next request ends the run as `paused`. A continued run sends the requests again. */
  stopAsking(): void {
    this.#run?.stopAsking()
  }

  /** Stops the running run, if any. */
  abort(reason?: unknown): void {
    this.#run?.abort(reason)
  }

  /** Aborts, clears the history and returns queued messages. The agent is idle immediately. The old run settles later. */
  reset(): void {
    this.abort()
    this.clearQueues()
    this.#run = undefined
    this.#conversation.forget()
  }

  /** Calls `listener` for every later event of every run. Returns a function that unsubscribes. */
  subscribe(listener: (event: AgentEvent) => void): () => void {
    return this.#listeners.add(listener, this.#run)
  }

  // Steering

  /** Queues a message for the next checkpoint of the run, or for the start of the next run if idle. */
  steer(input: PromptInput, ...more: never[]): Receipt {
    refuseMore('steer', more, queueAdvice)
    return this.#run?.steer(input) ?? this.#steering.add(toMessages(input))
  }

  /** Queues a message for delivery when the agent would otherwise stop. */
  followUp(input: PromptInput, ...more: never[]): Receipt {
    refuseMore('followUp', more, queueAdvice)
    return this.#run?.followUp(input) ?? this.#followUps.add(toMessages(input))
  }

  /** Withdraws all queued steering and follow-up messages. Their receipts become `returned`. */
  clearQueues(): void {
    this.#steering.clear()
    this.#followUps.clear()
  }

  // Settings: readable at any time. Changes apply from the next run

  /**
   * Changes settings, starting with the next run. `undefined` resets a setting to its default. If a value is invalid, throws `ConfigError`
   * and changes nothing.
   */
  configure(changes: { [Name in keyof AgentSettings]?: AgentSettings<Output>[Name] | undefined }): void {
    const settings = { ...this.#settings, ...changes } as AgentSettings<Output> // undefined values count as omitted, and the check guarantees a model
    checkSettings(settings)
    this.#settings = withOwnTools(settings)
    this.#effective = undefined
    noteGiven(this, this.#settings)
  }

  /**
   * Changes the tools from the current run's next turn on, and for all later runs. Copies the list. If a tool is invalid, throws
   * `ConfigError` and changes nothing.
   */
  setTools(tools: readonly AgentTool[]): void {
    this.configure({ tools })
    if (this.isStreaming) this.#conversation.context.tools = this.#allTools
  }

  /**
   * Returns the settings of the next run, with defaults such as `limits`, `retry` and `toolExecution` applied. Settings with
   * model-dependent defaults, such as `thinking` and `maxTokens`, are present only if given.
   */
  get settings(): Readonly<EffectiveSettings<Output>> {
    this.#effective ??= effectiveSettings(this.#settings)
    return this.#effective
  }

  // History: can change only between runs

  /** The history. Entries are immutable. The list grows during a run. */
  get messages(): readonly AgentMessage[] {
    return this.#conversation.context.messages
  }

  /** Appends an entry to the history. Throws `AgentBusyError` during a run. */
  appendMessage(message: MessageInput): void {
    this.#assertIdle()
    this.#conversation.append(message)
  }

  /**
   * Replaces the history. `[]` empties it. `parseMessages` reads the output of `serializeMessages`. Throws `AgentBusyError` during a run.
   */
  replaceMessages(messages: readonly MessageInput[]): void {
    this.#assertIdle()
    this.#conversation.replace(messages)
  }

  /** Returns the state from which this or another process can resume, as plain JSON without secrets. Excludes queued messages. */
  checkpoint(): AgentSnapshot {
    return this.#conversation.snapshot(this.#settings)
  }

  /**
   * Restores a checkpoint: identity, history, context state and settings. Keeps the model and tools.
   * - With `journal`, records later loops there and adopts the snapshot instead of copying it. See `resumeAgent`. - Throws `SessionError`
   *   for an invalid snapshot, like `parseSnapshot`, and `AgentBusyError` during a run.
   */
  restore(snapshot: AgentSnapshot, journal?: SessionJournal): void {
    this.#assertIdle()
    const own = journal === undefined ? snapshotCopy(snapshot) : snapshot
    if (own.settings !== undefined) this.configure(settingsOf(own.settings, this.#settings))
    this.#conversation.become(own, journal)
  }

  /** The session's shared state, if the `sharedState` option is set. Source: docs/guides/shared-state.md */
  get sharedState(): SharedState | undefined {
    return this.#conversation.shared
  }

  // Identity

  get agentId(): string {
    return this.#conversation.context.agentId
  }
  get sessionId(): string {
    return this.#conversation.context.sessionId
  }
  /** Id of the last started loop. */
  get lastLoopId(): string | undefined {
    return this.#conversation.lastLoopId
  }
  /** Start time of this session's last run, in epoch milliseconds. */
  get lastActiveAt(): number | undefined {
    return this.#conversation.lastActiveAt
  }
  /**
   * Starts a new session with the same history and returns its id. With `afterIdleMs`, only if the last run started longer ago. Otherwise
   * returns the current id. Throws `AgentBusyError` during a run.
   */
  newSession(options: NewSessionOptions = {}): string {
    this.#assertIdle()
    checkNewSession(options)
    return this.#conversation.rotate(options.afterIdleMs)
  }

  /**
   * Sets the session's name (1 to 100 characters), even during a run. Resolves when the name is stored. Rejects with `ConfigError`
   * `invalidOption` for an invalid name, and with `SessionError`: `notFound` if the session is not stored yet.
   */
  rename(title: string): Promise<void> {
    return this.#conversation.rename(title)
  }

  /** Creates an agent with this agent's settings and history, changed by `overrides`. The new agent gets new ids unless overridden. */
  with<Answer = Output>(overrides: Partial<AgentOptions<Answer>>): Agent<NoInfer<Answer>> {
    checkOptions(overrides, anObject, 'overrides')
    const options = { ...this.#settings, messages: this.messages, ...overrides } as AgentOptions<Answer> // without a different format, Answer equals Output
    const agent = new Agent(options)
    const { shared } = this.#conversation
    if (shared !== undefined && overrides.sharedState === undefined) agent.#share(shared)
    if (overrides.messages === undefined) agent.#conversation.sendAs(this.#conversation)
    return agent
  }

  /**
   * Creates a branch: an agent in the same session with a separate copy of the history. The branch's loops descend from this agent's last
   * loop, and forks never share loop ids. See `exploreBranches`.
   */
  fork<Answer = Output>(overrides: Partial<Omit<AgentOptions<Answer>, 'agentId' | 'sessionId'>> = {}): Agent<NoInfer<Answer>> {
    checkOptions(overrides, anObject, 'overrides')
    const agent = this.with({ ...overrides, agentId: this.agentId, sessionId: this.sessionId })
    agent.#conversation.descendFrom(this.#conversation)
    return agent
  }

  /**
   * Waits until all records are durable, releases write access to the session, and closes the resources in `owns`. A later prompt acquires
   * access again. Closes all resources, then rejects with the first failure, if any.
   */
  async close(): Promise<void> {
    const closing = [this.#conversation.recorder.journal, ...this.#owned].map(async (owned) => owned?.close())
    await Promise.allSettled(closing)
    await Promise.all(closing)
  }

  /** Includes the tools selected by the unfinished prompt. */
  get #allTools(): readonly AgentTool[] {
    const { tools = [] } = this.#settings
    const { asked } = this.#conversation.context
    return asked === undefined ? tools : [...tools, ...extraTools(this.#settings, asked)]
  }

  #share(rules: Pick<SharedStateRules, 'begin'>): void {
    this.#conversation.share(rules, () => {
      const { session, journal } = this.#settings
      return session === undefined ? journal : this.#conversation.journalIn(session)
    })
  }

  #assertIdle(): void {
    if (this.#run !== undefined) throw new AgentBusyError()
  }

  #begin<Answer>(what: RunStart, options: PromptOptions<Answer>): AgentRun<Answer> {
    const run = beginRun(
      {
        settings: this.#settings,
        conversation: this.#conversation,
        steering: this.#steering,
        followUps: this.#followUps,
        listeners: this.#listeners,
        onEnd: (run) => {
          if (this.#run === run) this.#run = undefined
        },
      },
      what,
      options,
    )
    this.#run = run
    return run as AgentRun<Answer> // the schema that determines Answer produced the output
  }
}
