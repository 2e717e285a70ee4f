import { checkContinuable, continueLoop, isContinuable, startLoop } from '../loop/agent-loop.ts'
import { compactLoop } from '../loop/compact-loop.ts'
import type { AgentContext, LoopConfig } from '../loop/loop-config.ts'
import { nextLoopId } from '../loop/loop-id.ts'
import type { LoopOptions } from '../loop/loop-state.ts'
import { toMessages } from '../loop/input.ts'
import { AgentBusyError } from '../types/errors.ts'
import type { AgentEvent, ContinuationKind } from '../types/event.ts'
import { newId } from '../types/ids.ts'
import { now, type PromptInput } from '../types/message.ts'
import type { AgentRun, Receipt, RunResult } from '../types/run.ts'
import type { AgentOptions, PromptOptions } from './agent-options.ts'
import { blank, Conversation } from './conversation.ts'
import { LiveRun } from './live-run.ts'

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
export class Agent extends Conversation {
  readonly #listeners = new Set<(event: AgentEvent) => void>()
  #runningTools = new Map<string, number | undefined>()
  #run: LiveRun | undefined

  /** A new agent with these settings and this history, changed by `overrides`; with its own identity unless they say otherwise. */
  with(overrides: Partial<AgentOptions>): Agent {
    const modes = { steeringMode: this.steering.mode, followUpMode: this.followUps.mode }
    const agent = new Agent({ ...this.settings, ...modes, messages: this.messages, ...overrides })
    const { state } = this.context
    // What is sent of a history says nothing about another one.
    if (state !== undefined && overrides.messages === undefined) agent.context.state = state
    return agent
  }

  /**
   * An agent that goes on from here in the same session, with a history of its own: a branch. Its loops descend from the last loop of this one,
   * and no two agents forked from one get the same loop id. See `exploreBranches`.
   */
  fork(overrides: Partial<Omit<AgentOptions, 'agentId' | 'sessionId'>> = {}): Agent {
    const { agentId, sessionId, lastLoopId } = this.context
    const agent = this.with({ ...overrides, agentId, sessionId })
    // One object: no two branches get the same loop id.
    agent.context.loopCounts = this.context.loopCounts ??= {}
    if (lastLoopId !== undefined) agent.context.lastLoopId = lastLoopId
    agent.recorder = this.recorder
    return agent
  }

  /** Gives back the right to write to its session, once what was said is durable. Another prompt takes it again. */
  async close(): Promise<void> {
    await this.recorder.journal?.close()
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
    const timeouts = [...this.#runningTools.values()]
    return timeouts.length === 0 || timeouts.includes(undefined) ? undefined : Math.max(...timeouts.map((ms) => ms ?? 0))
  }

  /**
   * Sends input to the model and returns the run that answers it. Throws `AgentBusyError` while a run is on and `ConfigError` `emptyPrompt`
   * for input without content.
   */
  prompt(input: PromptInput, options: PromptOptions = {}): AgentRun {
    this.assertIdle()
    const messages = toMessages(input)
    const kind = options.kind ?? { kind: 'initial' }
    return this.#start(options, kind, (context, config, loop) => startLoop(messages, kind, context, config, loop))
  }

  /**
   * Runs on from the history as it is: after an answer that failed or was aborted, after appended messages, or after a run that ended
   * `paused`. Throws `AgentBusyError` while a run is on and `ConfigError` when there is nothing to continue.
   */
  continueLoop(options: PromptOptions = {}): AgentRun {
    this.assertIdle()
    checkContinuable(this.context)
    return this.#start(options, options.kind ?? { kind: 'default' }, continueLoop)
  }

  /**
   * Says something, whatever the history ends with: begins where the model has answered, continues where it has not, or where calls wait for
   * an approval; `input` then comes right after them. Throws as `prompt`.
   */
  send(input: PromptInput, options: PromptOptions = {}): AgentRun {
    this.assertIdle()
    const messages = toMessages(input)
    if (!isContinuable(this.context)) return this.prompt(messages, options)
    this.steering.add(messages, undefined)
    return this.continueLoop(options)
  }

  /**
   * Compacts what is sent of the history now, as a run of its own with kind `compaction`; the history stays. `focusMessage` says what a summary
   * should keep. Throws `AgentBusyError` while a run is on.
   */
  compact(options: Omit<PromptOptions, 'kind' | 'responseFormat'> & { focusMessage?: string } = {}): AgentRun {
    this.assertIdle()
    const { focusMessage } = options
    return this.#start(options, { kind: 'compaction' }, (context, config, loop) =>
      compactLoop(context, config, focusMessage === undefined ? loop : { ...loop, focusMessage }),
    )
  }

  /** Queues a message for the next checkpoint of the run, or, when idle, for the beginning of the next one. */
  steer(input: PromptInput): Receipt {
    return this.#run?.steer(input) ?? this.steering.add(toMessages(input), undefined)
  }

  /** Queues a message that is answered when the agent would otherwise stop. */
  followUp(input: PromptInput): Receipt {
    return this.#run?.followUp(input) ?? this.followUps.add(toMessages(input), undefined)
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
    const { loopCounts = {} } = this.context
    this.context = { ...blank, messages: [], agentId, sessionId, loopCounts }
  }

  protected assertIdle(): void {
    if (this.#run !== undefined) throw new AgentBusyError()
  }

  #start(
    options: PromptOptions,
    kind: ContinuationKind,
    loop: (context: AgentContext, config: LoopConfig, options: LoopOptions) => Promise<RunResult>,
  ): AgentRun {
    const context = this.context
    const config: LoopConfig = { ...this.loopConfig(), steering: this.steering, followUps: this.followUps }
    const { replayBytes, logger, session } = this.settings
    if (session) config.journal = this.recorder.journal ??= session.journal()
    if (options.responseFormat !== undefined) config.responseFormat = options.responseFormat
    context.systemPrompt = this.systemPrompt
    context.tools = this.tools
    context.continuationKind = kind
    if (context.lastLoopId !== undefined) context.parentLoopId = context.lastLoopId
    const loopId = nextLoopId(context, this.sessionId, config)
    context.loopId = loopId
    this.latestLoopId = loopId
    this.startedAt = now()
    const run: LiveRun = new LiveRun({
      ...options,
      id: newId(),
      loopId,
      sessionId: this.sessionId,
      steering: this.steering,
      followUps: this.followUps,
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
}
