import { agentLoop, checkContinuable, continueLoop } from '../loop/agent-loop.ts'
import type { AgentContext, LoopConfig } from '../loop/loop-config.ts'
import { nextLoopId } from '../loop/loop-id.ts'
import type { LoopOptions } from '../loop/loop-run.ts'
import { toMessages } from '../loop/prompt-input.ts'
import { parseMessages, serializeMessages } from '../session/message-json.ts'
import { AgentBusyError } from '../types/errors.ts'
import type { AgentEvent, ContinuationKind } from '../types/event.ts'
import { newId } from '../types/ids.ts'
import { type AgentMessage, type Message, type PromptInput, withId } from '../types/message.ts'
import type { Model } from '../types/model.ts'
import type { ThinkingLevel } from '../types/model-config.ts'
import type { AgentRun, Receipt, RunResult } from '../types/run.ts'
import type { QueueMode } from '../types/settings.ts'
import type { AgentTool } from '../types/tool.ts'
import type { Workspace } from '../types/workspace.ts'
import { type AgentOptions, checkOptions, type PromptOptions } from './agent-options.ts'
import { LiveRun } from './live-run.ts'
import { MessageQueue } from './message-queue.ts'

/** The settings an agent keeps beside its history and identity. */
type AgentSettings = Omit<AgentOptions, 'messages' | 'agentId' | 'sessionId' | 'steeringMode' | 'followUpMode'>

/**
 * A conversation with a model that can use tools: one history, one model, one run at a time.
 *
 * **Contract**
 * - `prompt` and `continueLoop` return at once and throw `AgentBusyError` while a run is on; nothing has changed then.
 * - Settings may be changed at any time and apply from the next run. The history may be changed only between runs.
 * - The history is an ordered list; every prompt sends all of it.
 *
 * Source: spec/24 "Agent Trait", "BasicAgent".
 *
 * @example
 * ```ts
 * const agent = new Agent({ model: anthropic('claude-sonnet-4-6', { apiKey }), tools: [weather] })
 * for await (const event of agent.prompt('Will it rain in Oslo?')) console.log(event.type)
 * ```
 */
export class Agent {
  readonly agentId: string
  readonly sessionId: string
  readonly #steering: MessageQueue
  readonly #followUps: MessageQueue
  readonly #listeners = new Set<(event: AgentEvent) => void>()
  #settings: AgentSettings
  #context: AgentContext
  #runningTools = new Map<string, number | undefined>()
  #run: LiveRun | undefined
  #lastLoopId: string | undefined

  /** Throws `ConfigError` when there is no model, or an option cannot work. */
  constructor(options: AgentOptions) {
    const { messages = [], agentId = newId(), sessionId = newId(), steeringMode, followUpMode, ...settings } = options
    checkOptions({ ...settings, model: settings.model })
    this.agentId = agentId
    this.sessionId = sessionId
    this.#settings = settings
    this.#steering = new MessageQueue(steeringMode ?? 'oneAtATime')
    this.#followUps = new MessageQueue(followUpMode ?? 'oneAtATime')
    this.#context = { systemPrompt: '', tools: [], messages: messages.map(withId), agentId, sessionId }
  }

  /** A new agent with these settings and this history, changed by `overrides`; with its own identity unless they say otherwise. */
  with(overrides: Partial<AgentOptions>): Agent {
    const modes = { steeringMode: this.#steering.mode, followUpMode: this.#followUps.mode }
    return new Agent({ ...this.#settings, ...modes, messages: this.messages, ...overrides })
  }

  /** Changes settings from the next run on. Throws `ConfigError`, and changes nothing, when one cannot work. */
  configure(changes: Partial<AgentSettings>): void {
    const settings = { ...this.#settings, ...changes }
    checkOptions(settings)
    this.#settings = settings
  }

  /** The settings in force for the next run. */
  get settings(): Readonly<AgentSettings> {
    return this.#settings
  }

  get model(): Model {
    return this.#settings.model
  }

  get systemPrompt(): string {
    return this.#settings.systemPrompt ?? ''
  }

  get tools(): readonly AgentTool[] {
    return this.#settings.tools ?? []
  }

  /** Replaces the tools from the next run on. */
  setTools(tools: readonly AgentTool[]): void {
    this.configure({ tools })
  }

  get thinking(): ThinkingLevel {
    return this.#settings.thinking ?? 'off'
  }

  set thinking(thinking: ThinkingLevel) {
    this.configure({ thinking })
  }

  /** Tokens per answer; `undefined` means the model's own limit. */
  get maxTokens(): number | undefined {
    return this.#settings.maxTokens
  }

  set maxTokens(value: number | undefined) {
    this.#setOrClear('maxTokens', value)
  }

  /** Sampling temperature; `undefined` means the service's default. */
  get temperature(): number | undefined {
    return this.#settings.temperature
  }

  set temperature(value: number | undefined) {
    this.#setOrClear('temperature', value)
  }

  get workspace(): Workspace | undefined {
    return this.#settings.workspace
  }

  /** The history. Entries are never changed; the list grows while a run is on. */
  get messages(): readonly AgentMessage[] {
    return this.#context.messages
  }

  /** True from `prompt` until `agentEnd`. */
  get isStreaming(): boolean {
    return this.#run !== undefined
  }

  /** The run that is on. */
  get currentRun(): AgentRun | undefined {
    return this.#run
  }

  /** Id of the loop started last. */
  get lastLoopId(): string | undefined {
    return this.#lastLoopId
  }

  /** The longest timeout, in ms, of the tools that run now; `undefined` when none runs or one of them is unbounded. */
  get currentToolTimeoutMs(): number | undefined {
    const timeouts = [...this.#runningTools.values()]
    return timeouts.length === 0 || timeouts.includes(undefined) ? undefined : Math.max(...timeouts.map((ms) => ms ?? 0))
  }

  /**
   * Sends input to the model and returns the run that answers it. Throws `AgentBusyError` while a run is on and `ConfigError` `emptyPrompt`
   * for input without content.
   */
  prompt(input: PromptInput, options: PromptOptions = {}): AgentRun {
    this.#assertIdle()
    const messages = toMessages(input)
    return this.#start(options, { kind: 'initial' }, (context, config, loop) => agentLoop(messages, context, config, loop))
  }

  /**
   * Runs on from the history as it is: after an answer that failed or was aborted, after appended messages, or after a run that ended
   * `paused`. Throws `AgentBusyError` while a run is on and `ConfigError` when there is nothing to continue.
   */
  continueLoop(options: PromptOptions & { kind?: ContinuationKind } = {}): AgentRun {
    this.#assertIdle()
    checkContinuable(this.#context)
    return this.#start(options, options.kind ?? { kind: 'default' }, continueLoop)
  }

  /** Queues a message for the next checkpoint of the run, or, when idle, for the beginning of the next one. */
  steer(input: PromptInput): Receipt {
    return this.#run?.steer(input) ?? this.#steering.add(toMessages(input), undefined)
  }

  /** Queues a message that is answered when the agent would otherwise stop. */
  followUp(input: PromptInput): Receipt {
    return this.#run?.followUp(input) ?? this.#followUps.add(toMessages(input), undefined)
  }

  /** Gives back all waiting steering messages. */
  clearSteering(): void {
    this.#steering.clear()
  }

  /** Gives back all waiting follow-ups. */
  clearFollowUps(): void {
    this.#followUps.clear()
  }

  /** Gives back everything that waits. */
  clearQueues(): void {
    this.clearSteering()
    this.clearFollowUps()
  }

  setSteeringMode(mode: QueueMode): void {
    this.#steering.mode = mode
  }

  setFollowUpMode(mode: QueueMode): void {
    this.#followUps.mode = mode
  }

  /** Adds an entry to the history. Throws `AgentBusyError` while a run is on. */
  appendMessage(message: Message | AgentMessage): void {
    this.#assertIdle()
    this.#context.messages.push(withId(message))
  }

  /** Replaces the history. Throws `AgentBusyError` while a run is on. */
  replaceMessages(messages: readonly (Message | AgentMessage)[]): void {
    this.#assertIdle()
    this.#context.messages = messages.map(withId)
  }

  /** Empties the history. Throws `AgentBusyError` while a run is on. */
  clearMessages(): void {
    this.replaceMessages([])
  }

  /** The history as JSON; `restoreMessages` reads it back, in this or another process. */
  saveMessages(): string {
    return serializeMessages(this.messages)
  }

  /**
   * Replaces the history with what `saveMessages` wrote. Throws `SessionError` `invalidMessages`, and keeps the present history, when `json`
   * is something else; `AgentBusyError` while a run is on.
   */
  restoreMessages(json: string): void {
    this.#assertIdle()
    this.#context.messages = parseMessages(json)
  }

  /** Calls `listener` for every event of every run from now on; returns how to stop. */
  subscribe(listener: (event: AgentEvent) => void): () => void {
    let isActive = true
    // A function of its own, so that the same listener may be added twice, and a run it was handed to hears no more of it once it stops.
    const heard = (event: AgentEvent) => (isActive ? listener(event) : undefined)
    this.#listeners.add(heard)
    const stopRun = this.#run?.subscribe(heard)
    return () => {
      isActive = false
      this.#listeners.delete(heard)
      stopRun?.()
    }
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
    this.#runningTools = new Map()
    const { agentId, sessionId } = this
    const { loopCounts = {} } = this.#context
    this.#context = { systemPrompt: '', tools: [], messages: [], agentId, sessionId, loopCounts }
  }

  #setOrClear(name: 'maxTokens' | 'temperature', value: number | undefined): void {
    const { [name]: _, ...rest } = this.#settings
    if (value === undefined) this.#settings = rest
    else this.configure({ [name]: value })
  }

  #assertIdle(): void {
    if (this.#run !== undefined) throw new AgentBusyError()
  }

  #start(
    options: PromptOptions,
    kind: ContinuationKind,
    loop: (context: AgentContext, config: LoopConfig, options: LoopOptions) => Promise<RunResult>,
  ): AgentRun {
    const context = this.#context
    const config = this.#loopConfig()
    if (options.responseFormat !== undefined) config.responseFormat = options.responseFormat
    context.systemPrompt = this.systemPrompt
    context.tools = this.tools
    context.continuationKind = kind
    if (context.lastLoopId !== undefined) context.parentLoopId = context.lastLoopId
    const loopId = nextLoopId(context, this.sessionId, config)
    context.loopId = loopId
    this.#lastLoopId = loopId
    const { replayBytes, logger } = this.#settings
    const run: LiveRun = new LiveRun({
      ...options,
      id: newId(),
      loopId,
      sessionId: this.sessionId,
      steering: this.#steering,
      followUps: this.#followUps,
      runningTools: this.#runningTools,
      listeners: this.#listeners,
      start: (loopOptions) => loop(context, config, loopOptions),
      onEnd: () => {
        if (this.#run === run) this.#run = undefined
      },
      replayBytes,
      logger,
    })
    this.#run = run
    return run
  }

  #loopConfig(): LoopConfig {
    const { thinking, contextManagement, limits, ...rest } = this.#settings
    return {
      ...rest,
      thinkingLevel: thinking ?? 'off',
      ...(contextManagement === false ? { limits: false as const } : limits !== undefined && { limits }),
      steering: this.#steering,
      followUps: this.#followUps,
    }
  }
}
