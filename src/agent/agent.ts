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
import type { AgentRun, Receipt } from '../types/run/run.ts'
import type { SessionJournal } from '../types/session/session-store.ts'
import type { SharedState, SharedStateRules } from '../types/session/shared-state.ts'
import type { AgentTool } from '../types/tool/tool.ts'
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
} from './agent-options.ts'
import { type EffectiveSettings, effectiveSettings, noteGiven, withOwnTools } from './agent-settings.ts'
import { beginRun, continuationStart, promptStart, type RunStart, sendStart } from './begin-run.ts'
import { extraTools } from './choices.ts'
import { Conversation, settingsOf, snapshotCopy } from './conversation.ts'
import { MessageQueue } from './message-queue.ts'
import type { RunHandle } from './run-handle.ts'

/**
 * A conversation with a model that can use tools: one history, one model, one run at a time. `Output` is the type of `output` in its
 * results: the output type of its `responseFormat`. `Tools` has the types of its tools, for typed clients: see `InferTools`.
 *
 * **Contract**
 * - `prompt` and `continueLoop` return at once. During a run they throw `AgentBusyError` without any effect.
 * - Settings may change at any time and apply from the next run. The history may change only between runs.
 * - The history is an ordered list; every prompt sends all of it.
 *
 * Source: docs/concepts/agent-and-run.md
 *
 * @example
 * ```ts
 * const agent = new Agent({ model: anthropic('claude-sonnet-4-6', { apiKey }), tools: [weather] })
 * for await (const event of agent.prompt('Will it rain in Oslo?')) console.log(event.type)
 * ```
 */
export class Agent<Output = unknown, Tools extends readonly AgentTool[] = readonly AgentTool[]> {
  /** Phantom property for type inference; never set at runtime. */
  declare readonly '~tools'?: TypesOfTools<Tools[number]>
  #settings: AgentSettings<Output>
  #effective: EffectiveSettings<Output> | undefined
  readonly #conversation: Conversation
  readonly #steering = new MessageQueue()
  readonly #followUps = new MessageQueue()
  readonly #listeners = new AgentListeners()
  readonly #owned: readonly { close(): unknown }[]
  #run: RunHandle | undefined

  /** Throws `ConfigError` without a model, or for an invalid option. */
  constructor(options: AgentOptions<Output, Tools>) {
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
  prompt<Answer = Output>(input: PromptInput, options: PromptOptions<Answer> = {}): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    return this.#begin(promptStart(toMessages(input)), options)
  }

  /**
   * Continues from the current history: after a failed or aborted response, after appended messages, or after a `paused` run. Uses the
   * settings of the unfinished prompt, overridden by `options`. Throws `AgentBusyError` during a run, and `ConfigError` if there is nothing
   * to continue.
   */
  continueLoop<Answer = Output>(options: PromptOptions<Answer> = {}): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    return this.#begin({ ...continuationStart(continuationOf(this.#conversation.context)), goesOn: true }, options)
  }

  /**
   * Sends input whatever the history ends with: prompts after a finished response, otherwise continues. Pending approvals come first, then
   * `input`. Throws as `prompt`.
   */
  send<Answer = Output>(input: PromptInput, options: PromptOptions<Answer> = {}): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    return this.#begin(sendStart(toMessages(input), this.#conversation.context), options)
  }

  /** Compacts the context now, as a run of kind `compaction`. `focusMessage`: what a summary should focus on. Throws `AgentBusyError`. */
  compact(options: CompactOptions = {}): AgentRun {
    this.#assertIdle()
    checkCompactOptions(options)
    const { focusMessage, ...others } = options
    const start: LoopStart = { type: 'compaction', ...(focusMessage !== undefined && { focusMessage }) }
    return this.#begin({ start, kind: { kind: 'compaction' } }, others)
  }

  /**
   * Generates a new response to the last user message, or to the one of `messageId`, as a run of kind `rerun`.
   * - All later messages leave the history; a session keeps them in its tree.
   * - Uses the model and settings of the original prompt, overridden by `options`.
   * - Throws as `continueLoop`, and `ConfigError` `emptyHistory`, `unknownMessage`. Nothing has changed then.
   */
  regenerate<Answer = Output>(given: PromptOptions<Answer> & { messageId?: string } = {}): AgentRun<NoInfer<Answer>> {
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
   * - The message and all later ones leave the history; a session keeps them in its tree.
   * - Uses the model and settings of the original prompt, as `regenerate` does.
   * - Throws as `prompt`, and `ConfigError` `unknownMessage`. Nothing has changed then.
   */
  editAndResend<Answer = Output>(messageId: string, input: PromptInput, options: PromptOptions<Answer> = {}): AgentRun<NoInfer<Answer>> {
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

  /** Longest timeout of the running tools, in milliseconds; `undefined` if none runs or one has no timeout. */
  get currentToolTimeoutMs(): number | undefined {
    return this.#run?.currentToolTimeoutMs
  }

  /** Returns pending approvals of the running run, or of the last one; `continueLoop` requests them again. */
  pendingApprovals(): PendingApproval[] {
    return this.#run?.pendingApprovals() ?? this.#conversation.pendingApprovals(this.#settings.tools ?? [])
  }

  /** Returns pending client tool calls, in the same way. */
  pendingClientCalls(): PendingClientCall[] {
    return this.#run?.pendingClientCalls() ?? this.#conversation.pendingClientCalls(this.#allTools)
  }

  /**
   * Stops waiting for approvals and input in the running run: at the next pending request, the run ends `paused`. A continued run requests
   * again.
   */
  stopAsking(): void {
    this.#run?.stopAsking()
  }

  /** Stops the running run, if any. */
  abort(reason?: unknown): void {
    this.#run?.abort(reason)
  }

  /** Aborts, clears the history and returns queued messages. The agent is idle at once; the old run settles later. */
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

  /** Queues a message for the point where the agent would otherwise stop. */
  followUp(input: PromptInput, ...more: never[]): Receipt {
    refuseMore('followUp', more, queueAdvice)
    return this.#run?.followUp(input) ?? this.#followUps.add(toMessages(input))
  }

  /** Returns all queued messages, steering and follow-ups. */
  clearQueues(): void {
    this.#steering.clear()
    this.#followUps.clear()
  }

  // Settings: readable at any time, changes apply from the next run

  /**
   * Changes settings from the next run on; `undefined` resets to the default. If one is invalid, throws `ConfigError` and changes nothing.
   */
  configure(changes: { [Name in keyof AgentSettings]?: AgentSettings<Output>[Name] | undefined }): void {
    const settings = { ...this.#settings, ...changes } as AgentSettings<Output> // what is undefined counts as left out, and the check refuses no model
    checkSettings(settings)
    this.#settings = withOwnTools(settings)
    this.#effective = undefined
    noteGiven(this, this.#settings)
  }

  /**
   * Changes the tools: of a running run from its next turn, and of all later runs. If they are invalid, throws `ConfigError` and changes
   * nothing. The list is copied.
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

  // History: changes only between runs

  /** The history. Entries never change; the list grows during a run. */
  get messages(): readonly AgentMessage[] {
    return this.#conversation.context.messages
  }

  /** Appends an entry to the history. Throws `AgentBusyError` during a run. */
  appendMessage(message: MessageInput): void {
    this.#assertIdle()
    this.#conversation.append(message)
  }

  /**
   * Replaces the history; `[]` empties it. `parseMessages` reads the output of `serializeMessages`. Throws `AgentBusyError` during a run.
   */
  replaceMessages(messages: readonly MessageInput[]): void {
    this.#assertIdle()
    this.#conversation.replace(messages)
  }

  /** Returns the state to resume from here, in this or another process, as plain JSON without secrets. Queued messages are not included. */
  checkpoint(): AgentSnapshot {
    return this.#conversation.snapshot(this.#settings)
  }

  /**
   * Restores a checkpoint: identity, history, context state and settings. Model and tools stay.
   * - With `journal`, later loops are recorded there, and the snapshot is adopted instead of copied; see `resumeAgent`.
   * - Throws `SessionError` for an invalid snapshot, as `parseSnapshot`, and `AgentBusyError` during a run.
   */
  restore(snapshot: AgentSnapshot, journal?: SessionJournal): void {
    this.#assertIdle()
    const own = journal === undefined ? snapshotCopy(snapshot) : snapshot
    if (own.settings !== undefined) this.configure({ ...settingsOf(own.settings), ...derivedPrompt(this.#settings) })
    this.#conversation.become(own, journal)
  }

  /** Shared state of the session, if the agent has the option `sharedState`. Source: docs/guides/shared-state.md */
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
  /** Start of the last run of this session, epoch milliseconds. */
  get lastActiveAt(): number | undefined {
    return this.#conversation.lastActiveAt
  }

  /**
   * Starts a new session with the same history and returns its id. With `afterIdleMs`, only if the last run started longer ago; otherwise
   * returns the current id. Throws `AgentBusyError` during a run.
   */
  newSession(options: NewSessionOptions = {}): string {
    this.#assertIdle()
    checkNewSession(options)
    return this.#conversation.rotate(options.afterIdleMs)
  }

  /**
   * Names the session, 1 to 100 characters; also during a run. Resolves when the name is stored. Rejects with `ConfigError` `invalidOption`
   * for other texts, and with `SessionError`, `notFound` if the session is not stored yet.
   */
  rename(title: string): Promise<void> {
    return this.#conversation.rename(title)
  }

  /** Creates an agent with these settings and this history, changed by `overrides`, with its own identity unless overridden. */
  with<Answer = Output>(overrides: Partial<AgentOptions<Answer>>): Agent<NoInfer<Answer>> {
    checkOptions(overrides, anObject, 'overrides')
    const options = { ...this.#settings, messages: this.messages, ...overrides } as AgentOptions<Answer> // without another form, Answer is Output
    const agent = new Agent(options)
    const { shared } = this.#conversation
    if (shared !== undefined && overrides.sharedState === undefined) agent.#share(shared)
    if (overrides.messages === undefined) agent.#conversation.sendAs(this.#conversation)
    return agent
  }

  /**
   * Creates a branch: an agent in the same session with its own copy of the history. The loops of the branch descend from the last loop of
   * this agent, and forks never share loop ids. See `exploreBranches`.
   */
  fork<Answer = Output>(overrides: Partial<Omit<AgentOptions<Answer>, 'agentId' | 'sessionId'>> = {}): Agent<NoInfer<Answer>> {
    checkOptions(overrides, anObject, 'overrides')
    const agent = this.with({ ...overrides, agentId: this.agentId, sessionId: this.sessionId })
    agent.#conversation.descendFrom(this.#conversation)
    return agent
  }

  /**
   * Waits until everything is durable, releases write access to the session, and closes what the agent `owns`. A later prompt acquires
   * access again. Rejects with the first failure, after all are closed.
   */
  async close(): Promise<void> {
    const closing = [this.#conversation.recorder.journal, ...this.#owned].map(async (owned) => owned?.close())
    await Promise.allSettled(closing)
    await Promise.all(closing)
  }

  /** Including the tools chosen by the unfinished prompt. */
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
    return run as AgentRun<Answer> // its output is what the schema made that gave Answer its type
  }
}

/** Leaves out a system prompt that is a function: snapshots cannot store code. */
function derivedPrompt({ systemPrompt }: AgentSettings): Pick<AgentSettings, 'systemPrompt'> {
  return typeof systemPrompt === 'function' ? { systemPrompt } : {}
}
