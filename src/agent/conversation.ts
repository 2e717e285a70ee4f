import type { AgentContext } from '../loop/loop-config.ts'
import { raiseCounts } from '../loop/loop-id.ts'
import { parseMessages, serializeMessages } from '../session/checks/message-json.ts'
import { newId } from '../types/ids.ts'
import { type AgentMessage, type Message, now, withId } from '../types/message.ts'
import type { SessionFormation } from '../types/session.ts'
import type { SessionJournal } from '../types/session-store.ts'
import type { QueueMode } from '../types/settings.ts'
import type { AgentSnapshot } from '../types/snapshot.ts'
import type { AgentOptions } from './agent-options.ts'
import { ConfiguredAgent } from './agent-settings.ts'
import { MessageQueue } from './message-queue.ts'

/** What a run fills in when it begins. */
export const blank = { systemPrompt: '', tools: [] }

/**
 * What was said: history, identity, and the messages that wait. Changed only between runs. Source: spec/24 "BasicAgent", spec/41.
 */
export abstract class Conversation extends ConfiguredAgent {
  protected readonly steering: MessageQueue
  protected readonly followUps: MessageQueue
  protected context: AgentContext & { agentId: string; sessionId: string }
  protected latestLoopId: string | undefined
  protected startedAt: number | undefined
  /** Shared with forks: a session has one writer. */
  protected recorder: { journal?: SessionJournal } = {}

  constructor(options: AgentOptions) {
    const { messages = [], agentId = newId(), sessionId = newId(), steeringMode, followUpMode, ...settings } = options
    super(settings)
    this.steering = new MessageQueue(steeringMode ?? 'oneAtATime')
    this.followUps = new MessageQueue(followUpMode ?? 'oneAtATime')
    this.context = { ...blank, messages: messages.map(withId), agentId, sessionId }
  }

  /** Throws `AgentBusyError` while a run is on. */
  protected abstract assertIdle(): void

  get agentId(): string {
    return this.context.agentId
  }

  get sessionId(): string {
    return this.context.sessionId
  }

  /** The history. Entries are never changed; the list grows while a run is on. */
  get messages(): readonly AgentMessage[] {
    return this.context.messages
  }

  /** Id of the loop started last. */
  get lastLoopId(): string | undefined {
    return this.latestLoopId
  }

  /** When the last run of this session began, epoch ms. */
  get lastActiveAt(): number | undefined {
    return this.startedAt
  }

  /** Gives back all waiting steering messages. */
  clearSteering(): void {
    this.steering.clear()
  }

  /** Gives back all waiting follow-ups. */
  clearFollowUps(): void {
    this.followUps.clear()
  }

  /** Gives back everything that waits. */
  clearQueues(): void {
    this.clearSteering()
    this.clearFollowUps()
  }

  setSteeringMode(mode: QueueMode): void {
    this.steering.mode = mode
  }

  setFollowUpMode(mode: QueueMode): void {
    this.followUps.mode = mode
  }

  /** Adds an entry to the history. Throws `AgentBusyError` while a run is on. */
  appendMessage(message: Message | AgentMessage): void {
    this.assertIdle()
    this.context.messages.push(withId(message))
  }

  /** Replaces the history. Throws `AgentBusyError` while a run is on. */
  replaceMessages(messages: readonly (Message | AgentMessage)[]): void {
    this.assertIdle()
    this.#setHistory(messages.map(withId))
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
    this.assertIdle()
    this.#setHistory(parseMessages(json))
  }

  /** Everything needed to go on from here, in this or another process, as plain JSON without secrets. Messages that wait in queues are not in it. */
  checkpoint(): AgentSnapshot {
    const { agentId, sessionId, lastLoopId, loopCounts = {}, messages, state = {} } = this.context
    const { systemPrompt, thinking, maxTokens, temperature } = this
    const settings = { systemPrompt, thinking, maxTokens, temperature, configId: this.settings.configId }
    // Through JSON: a copy of its own, without what is undefined.
    return JSON.parse(
      JSON.stringify({ version: 1, createdAt: now(), agentId, sessionId, lastLoopId, loopCounts, messages, state, settings }),
    )
  }

  /**
   * Becomes what `checkpoint` described: identity, history, what of it is sent, and settings. Model and tools stay. For text from outside use
   * `parseSnapshot`, which checks it. With `journal`, what follows is written there, and the snapshot is not copied:
   * it becomes this agent's own; see `resumeAgent`. Throws `AgentBusyError` while a run is on.
   */
  restore(snapshot: AgentSnapshot, journal?: SessionJournal): void {
    this.assertIdle()
    if (journal !== undefined) this.recorder = { journal }
    const { agentId, sessionId, lastLoopId, loopCounts, messages, state, settings } =
      journal === undefined ? structuredClone(snapshot) : snapshot
    if (settings !== undefined) {
      const { systemPrompt, thinking, maxTokens, temperature, configId } = settings
      // By name: a snapshot may hold more than this version knows, and must not switch off a limit.
      this.configure({ systemPrompt, thinking, maxTokens, temperature, configId })
    }
    // Within a session the counts stay one object: forks of this agent hold it too.
    const isSame = sessionId === this.sessionId
    const known = isSame ? this.context.loopCounts : undefined
    if (!isSame) this.startedAt = undefined
    this.context = { ...blank, messages, state, agentId, sessionId, loopCounts: raiseCounts(known, loopCounts) }
    if (lastLoopId !== undefined) this.context.lastLoopId = lastLoopId
    this.latestLoopId = lastLoopId
  }

  /** Goes on under a new session id, with the same history, and returns it. `formation` is kept with it. Throws `AgentBusyError` while a run is on. */
  newSession(formation: SessionFormation = { type: 'explicit', at: now() }): string {
    this.assertIdle()
    const { messages, state, agentId } = this.context
    const sessionId = newId()
    this.context = { ...blank, messages, agentId, sessionId, formation, ...(state !== undefined && { state }) }
    this.latestLoopId = this.startedAt = undefined
    return sessionId
  }

  /** A new session when the last run began more than `idleMs` ago; its id, or `undefined` when the session stays. Throws as `newSession`. */
  checkAndRotate(idleMs: number): string | undefined {
    const isIdle = this.startedAt !== undefined && now() - this.startedAt > idleMs
    const { sessionId: previousSessionId } = this
    return isIdle
      ? this.newSession({ type: 'inactivityTimeout', at: now(), thresholdSecs: Math.floor(idleMs / 1000), previousSessionId })
      : undefined
  }

  #setHistory(messages: AgentMessage[]): void {
    this.context.messages = messages
    delete this.context.state
  }
}
