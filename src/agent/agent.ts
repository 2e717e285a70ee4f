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
 * A conversation with a model that can use tools: one history, one model, one run at a time. `Output` is the type of `output` in its results: what
 * the Standard Schema given as `responseFormat` makes. `Tools` has the types of its tools, for a page that shows their calls: see `InferTools`.
 *
 * **Contract**
 * - `prompt` and `continueLoop` return at once and throw `AgentBusyError` while a run is on; nothing has changed then.
 * - Settings may be changed at any time and apply from the next run. The history may be changed only between runs.
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
  /** For types alone: it is never there. */
  declare readonly '~tools'?: TypesOfTools<Tools[number]>
  #settings: AgentSettings<Output>
  #effective: EffectiveSettings<Output> | undefined
  readonly #conversation: Conversation
  readonly #steering = new MessageQueue()
  readonly #followUps = new MessageQueue()
  readonly #listeners = new AgentListeners()
  readonly #owned: readonly { close(): unknown }[]
  #run: RunHandle | undefined

  /** Throws `ConfigError` when there is no model, or an option cannot work. */
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

  /**
   * Sends input to the model and returns the run that answers it. Throws `AgentBusyError` while a run is on and `ConfigError` `emptyPrompt`
   * for input without content.
   */
  prompt<Answer = Output>(input: PromptInput, options: PromptOptions<Answer> = {}): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    return this.#begin(promptStart(toMessages(input)), options)
  }

  /**
   * Runs on from the history as it is: after an answer that failed or was aborted, after appended messages, or after a run that ended
   * `paused`. The settings of the prompt that was not answered hold, unless `options` say otherwise. Throws `AgentBusyError` while a run is on and
   * `ConfigError` when there is nothing to continue.
   */
  continueLoop<Answer = Output>(options: PromptOptions<Answer> = {}): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    return this.#begin({ ...continuationStart(continuationOf(this.#conversation.context)), goesOn: true }, options)
  }

  /**
   * Says something, whatever the history ends with: begins where the model has answered, continues where it has not, or where calls wait for
   * an approval; `input` then comes right after them. Throws as `prompt`.
   */
  send<Answer = Output>(input: PromptInput, options: PromptOptions<Answer> = {}): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    return this.#begin(sendStart(toMessages(input), this.#conversation.context), options)
  }

  /**
   * Compacts what is sent of the history now, as a run of its own with kind `compaction`; the history stays. `focusMessage` says what a summary
   * should keep. Throws `AgentBusyError` while a run is on.
   */
  compact(options: CompactOptions = {}): AgentRun {
    this.#assertIdle()
    checkCompactOptions(options)
    const { focusMessage, ...others } = options
    const start: LoopStart = { type: 'compaction', ...(focusMessage !== undefined && { focusMessage }) }
    return this.#begin({ start, kind: { kind: 'compaction' } }, others)
  }

  /**
   * Has what a user said answered again, by a run of kind `rerun`: the last of it, or what the message `messageId` belongs to. Everything after it,
   * with tool calls and results, leaves the history; a session keeps it in the tree. The model and settings that the message was sent with hold, unless
   * `options` say otherwise. Throws as `continueLoop`, and `ConfigError` `emptyHistory` where no
   * user has spoken, `unknownMessage` for another id; nothing has changed then.
   */
  regenerate<Answer = Output>(given: PromptOptions<Answer> & { messageId?: string } = {}): AgentRun<NoInfer<Answer>> {
    this.#assertIdle()
    checkOptions(given, anObject)
    const { messageId, ...options } = given
    const at = this.#conversation.lastSaidBy(messageId)
    const asked = this.#conversation.askedAt(at)
    return this.#conversation.rewound(at + 1, () => {
      const start = continuationStart(continuationOf(this.#conversation.context))
      return this.#begin({ ...start, goesOn: true, asked }, { kind: { kind: 'rerun', tag: 'regenerate' }, ...options })
    })
  }

  /**
   * Says `input` instead of the user message with id `messageId`, by a run of kind `branch`. That message and everything after it leave the
   * history; a session keeps them in the tree. Its model and settings hold, as for `regenerate`. Throws as `prompt`, and `ConfigError` `unknownMessage` where no user message has that id; nothing has
   * changed then.
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

  /** The run that is on. */
  get currentRun(): AgentRun | undefined {
    return this.#run
  }

  /** The longest timeout, in ms, of the tools that run now; `undefined` when none runs or one of them is unbounded. */
  get currentToolTimeoutMs(): number | undefined {
    return this.#run?.currentToolTimeoutMs
  }

  /** Calls that wait for a person: in the run that is on, or since the last one ended; `continueLoop` asks for these again. */
  pendingApprovals(): PendingApproval[] {
    return this.#run?.pendingApprovals() ?? this.#conversation.pendingApprovals(this.#settings.tools ?? [])
  }

  /** Calls that wait for a page, as `pendingApprovals` those that wait for a person. */
  pendingClientCalls(): PendingClientCall[] {
    return this.#run?.pendingClientCalls() ?? this.#conversation.pendingClientCalls(this.#allTools)
  }

  /**
   * Asks nobody any more in the run that is on: where a call waits for a person, or comes to, the run ends `paused`, and the caller who continues it is
   * asked again.
   */
  stopAsking(): void {
    this.#run?.stopAsking()
  }

  /** Stops the run that is on, if any. */
  abort(reason?: unknown): void {
    this.#run?.abort(reason)
  }

  /** Aborts, then forgets the history and gives back what was queued. The agent is idle at once; the old run settles on its own. */
  reset(): void {
    this.abort()
    this.clearQueues()
    this.#run = undefined
    this.#conversation.forget()
  }

  /** Calls `listener` for every event of every run from now on; returns how to stop. */
  subscribe(listener: (event: AgentEvent) => void): () => void {
    return this.#listeners.add(listener, this.#run)
  }

  // Steering

  /** Queues a message for the next checkpoint of the run, or, when idle, for the beginning of the next one. */
  steer(input: PromptInput, ...more: never[]): Receipt {
    refuseMore('steer', more, queueAdvice)
    return this.#run?.steer(input) ?? this.#steering.add(toMessages(input))
  }

  /** Queues a message that is answered when the agent would otherwise stop. */
  followUp(input: PromptInput, ...more: never[]): Receipt {
    refuseMore('followUp', more, queueAdvice)
    return this.#run?.followUp(input) ?? this.#followUps.add(toMessages(input))
  }

  /** Gives back everything that waits, steering and follow-ups. */
  clearQueues(): void {
    this.#steering.clear()
    this.#followUps.clear()
  }

  // Settings: read at any time, changed from the next run on

  /** Changes settings from the next run on; `undefined` stands for the default. Throws `ConfigError`, and changes nothing, when one cannot work. */
  configure(changes: { [Name in keyof AgentSettings]?: AgentSettings<Output>[Name] | undefined }): void {
    const settings = { ...this.#settings, ...changes } as AgentSettings<Output> // what is undefined counts as left out, and the check refuses no model
    checkSettings(settings)
    this.#settings = withOwnTools(settings)
    this.#effective = undefined
    noteGiven(this, this.#settings)
  }

  /**
   * Changes the tools: of a run that is on from its next turn, and of all runs after it. Throws `ConfigError`, and changes nothing, when they cannot work. A
   * list that was passed is copied: what is done to it later counts for nothing.
   */
  setTools(tools: readonly AgentTool[]): void {
    this.configure({ tools })
    if (this.isStreaming) this.#conversation.context.tools = this.#allTools
  }

  /**
   * Returns the settings of the next run: those that were given, and the defaults of the others, such as `limits`, `retry` and `toolExecution`. Settings
   * that the model decides, such as `thinking` and `maxTokens`, appear only if they were given.
   */
  get settings(): Readonly<EffectiveSettings<Output>> {
    this.#effective ??= effectiveSettings(this.#settings)
    return this.#effective
  }

  // History: changed only between runs

  /** The history. Entries are never changed; the list grows while a run is on. */
  get messages(): readonly AgentMessage[] {
    return this.#conversation.context.messages
  }

  /** Adds an entry to the history. Throws `AgentBusyError` while a run is on. */
  appendMessage(message: MessageInput): void {
    this.#assertIdle()
    this.#conversation.append(message)
  }

  /** Replaces the history; `[]` empties it, and `parseMessages` reads what `serializeMessages` wrote. Throws `AgentBusyError` while a run is on. */
  replaceMessages(messages: readonly MessageInput[]): void {
    this.#assertIdle()
    this.#conversation.replace(messages)
  }

  /** Everything needed to go on from here, in this or another process, as plain JSON without secrets. Messages that wait in queues are not in it. */
  checkpoint(): AgentSnapshot {
    return this.#conversation.snapshot(this.#settings)
  }

  /**
   * Becomes what `checkpoint` described: identity, history, what of it is sent, and settings. Model and tools stay. Throws `SessionError` for what
   * is no snapshot, as `parseSnapshot` does for text. With `journal`, what follows is written there, and the snapshot is not copied: it becomes this agent's
   * own; see `resumeAgent`. Throws `AgentBusyError` while a run is on.
   */
  restore(snapshot: AgentSnapshot, journal?: SessionJournal): void {
    this.#assertIdle()
    const own = journal === undefined ? snapshotCopy(snapshot) : snapshot
    if (own.settings !== undefined) this.configure({ ...settingsOf(own.settings), ...derivedPrompt(this.#settings) })
    this.#conversation.become(own, journal)
  }

  /** What the session shares with its pages, where the agent was made with `sharedState`. Source: docs/guides/shared-state.md */
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
  /** Id of the loop started last. */
  get lastLoopId(): string | undefined {
    return this.#conversation.lastLoopId
  }
  /** When the last run of this session began, epoch ms. */
  get lastActiveAt(): number | undefined {
    return this.#conversation.lastActiveAt
  }

  /**
   * Goes on under a new session id, with the same history, and returns it. With `afterIdleMs`, only when the last run began longer ago than that; else
   * the session stays, and its id is returned. Throws `AgentBusyError` while a run is on.
   */
  newSession(options: NewSessionOptions = {}): string {
    this.#assertIdle()
    checkNewSession(options)
    return this.#conversation.rotate(options.afterIdleMs)
  }

  /**
   * Gives the session a name of 1 to 100 characters, which lists show; also while a run is on. Resolves when it is stored. Rejects with
   * `ConfigError` `invalidOption` for another text, and with `SessionError`, `notFound` where nothing of the session is stored yet.
   */
  rename(title: string): Promise<void> {
    return this.#conversation.rename(title)
  }

  /** A new agent with these settings and this history, changed by `overrides`; with its own identity unless they say otherwise. */
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
   * An agent that goes on from here in the same session, with a history of its own: a branch. Loops of the copy descend from the last loop of this agent,
   * and no two agents forked from one get the same loop id. See `exploreBranches`.
   */
  fork<Answer = Output>(overrides: Partial<Omit<AgentOptions<Answer>, 'agentId' | 'sessionId'>> = {}): Agent<NoInfer<Answer>> {
    checkOptions(overrides, anObject, 'overrides')
    const agent = this.with({ ...overrides, agentId: this.agentId, sessionId: this.sessionId })
    agent.#conversation.descendFrom(this.#conversation)
    return agent
  }

  /**
   * Gives back the right to write to its session, once what was said is durable, and closes what it `owns`. Another prompt takes the right again.
   * Rejects with the first failure, when all is closed.
   */
  async close(): Promise<void> {
    const closing = [this.#conversation.recorder.journal, ...this.#owned].map(async (owned) => owned?.close())
    await Promise.allSettled(closing)
    await Promise.all(closing)
  }

  /** With those that the prompt has chosen which is answered, or is to be gone on with. */
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

/** A system prompt that is a function is code: no snapshot holds it. */
function derivedPrompt({ systemPrompt }: AgentSettings): Pick<AgentSettings, 'systemPrompt'> {
  return typeof systemPrompt === 'function' ? { systemPrompt } : {}
}
