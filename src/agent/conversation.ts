import { copyJson } from '../base/json/json-value.ts'
import { logWarning } from '../base/log-warning.ts'
import { waitingApprovals, waitingClientCalls } from '../base/questions.ts'
import type { ContextState } from '../contract/context/context-change.ts'
import { ConfigError, SessionError } from '../contract/errors.ts'
import { toEntry, toHistory } from '../contract/message/history.ts'
import { newId } from '../contract/message/identity.ts'
import { type AgentMessage, lastPromptIndex, type MessageInput, now } from '../contract/message/message.ts'
import { type PromptSettings, toRecord } from '../contract/model/request-settings.ts'
import type { PendingApproval, PendingClientCall } from '../contract/run/run-facts.ts'
import type { JournalEntry } from '../contract/session/journal-entry.ts'
import type { SessionFormation } from '../contract/session/session.ts'
import type { AgentSnapshot } from '../contract/session/snapshot.ts'
import { checkSnapshot } from '../contract/session/snapshot.ts'
import { checkDocument } from '../contract/shape/read.ts'
import type { AgentContext } from '../loop/loop-config.ts'
import { raiseCounts } from '../loop/loop-id.ts'
import type { Journal, JournalRecord } from '../types/session/journal.ts'
import type { SessionJournal, SessionStore } from '../types/session/session-store.ts'
import type { SessionState, SharedStateRules } from '../types/session/shared-state.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import type { AgentSettings } from './agent-options.ts'

/** Returns the part of `state` that applies to these messages. */
function stateWithin(state: ContextState | undefined, messages: readonly AgentMessage[]): ContextState | undefined {
  if (state === undefined) return undefined
  const ids = new Set(messages.map(({ id }) => id))
  const nodes = new Set(messages.map((message) => (message.role === 'extension' ? undefined : message.nodeId)))
  const { overlay, prunes = [], reverts = [] } = state
  const lastCompacted = overlay?.keepRecent?.range.lastId ?? overlay?.keepCompacted.range.lastId
  return {
    ...(overlay !== undefined && lastCompacted !== undefined && ids.has(lastCompacted) && { overlay }),
    prunes: prunes.filter(({ messageIds }) => messageIds.every((id) => ids.has(id))),
    reverts: reverts.filter(({ targetNodeId, abandonedNodeIds }) => [targetNodeId, ...abandonedNodeIds].every((id) => nodes.has(id))),
  }
}

/** Placeholders. The loop fills them in when it starts. */
const blank = { systemPrompt: '', tools: [] }

/**
 * An agent's conversation: history, context state, ids and loop ids.
 *
 * Source: docs/concepts/sessions.md
 */
export class Conversation {
  context: AgentContext & { agentId: string; sessionId: string }
  /** Id of the last started loop. */
  lastLoopId: string | undefined
  /** Start time of this session's last run, in epoch milliseconds. */
  lastActiveAt: number | undefined
  /** This session's journal. Forks share it, because a session has one writer. */
  recorder: { journal?: SessionJournal } = {}
  /** The last run's `context` and its loop id, for a continuation. `undefined` if unknown, because contexts are never stored. */
  lastContext: { loopId: string | undefined; context: unknown } | undefined
  /** The session's shared state. Forks use the same object. */
  shared: SessionState | undefined
  /** Request settings by loop id. Forks use the same map. */
  #askedOf = new Map<string, PromptSettings>()
  /** Whether the caller chose the session id and no run has started yet. */
  #isNewlyNamed: boolean

  constructor(messages: readonly MessageInput[], agentId: string = newId(), sessionId?: string) {
    this.context = { ...blank, messages: toHistory(messages, 'messages'), agentId, sessionId: sessionId ?? newId() }
    this.#isNewlyNamed = sessionId !== undefined
  }

  /** Warns before the first run if the caller set a session id without a store, because an id alone persists nothing. */
  warnIfUnstored({ session, journal, logger }: Pick<AgentSettings, 'session' | 'journal' | 'logger'>): void {
    const isUnstored = this.#isNewlyNamed && session === undefined && journal === undefined && this.recorder.journal === undefined
    this.#isNewlyNamed = false
    if (!isUnstored) return
    const { agentId, sessionId } = this.context
    logWarning(logger, 'sessionNotStored', {
      sessionId,
      agentId,
      message: 'The agent has a sessionId but no store, so its session is neither stored nor read.',
      hint: 'Pass a store as session, or create the agent with resumeAgent(store, id, settings).',
    })
  }

  /** Returns the last response's calls with a pending approval, including those interrupted before a decision. */
  pendingApprovals(tools: readonly AgentTool[]): PendingApproval[] {
    const rules = new Map(tools.map(({ name, needsApproval = false }) => [name, needsApproval]))
    return copyJson(waitingApprovals(this.context.messages, (name) => (rules.get(name) ?? false) !== false))
  }

  /** Returns the last response's pending client tool calls. A call may need an approval first. */
  pendingClientCalls(tools: readonly AgentTool[]): PendingClientCall[] {
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    const runs = (name: string): boolean => {
      const tool = byName.get(name)
      return tool?.client !== undefined && (tool.needsApproval ?? false) === false
    }
    return copyJson(waitingClientCalls(this.context.messages, runs))
  }

  /** Returns the last run's `context`, if that run started in this process. */
  contextOfLast(): { context: unknown } | undefined {
    const { loopId, context } = this.lastContext ?? {}
    return loopId !== undefined && loopId === this.lastLoopId ? { context } : undefined
  }

  append(message: MessageInput): void {
    this.context.messages.push(toEntry(message, 'message'))
  }

  /** Replaces the history and discards the previous context state. */
  replace(messages: readonly MessageInput[]): void {
    this.context.messages = toHistory(messages, 'messages')
    delete this.context.state
    delete this.context.asked
    this.lastContext = undefined
  }

  /** Returns the index of the user message with this id. Throws `ConfigError` `unknownMessage`. */
  userMessageAt(messageId: string): number {
    const at = this.#indexOf(messageId)
    if (lastPromptIndex(this.context.messages, at) === at) return at
    throw unknownMessage(`${quoted(messageId)} is not a user message`)
  }

  /**
   * Returns the index of the last user message, overall or up to the message with this id; -1 if there is none. Throws `ConfigError`
   * `unknownMessage`.
   */
  lastPromptAt(messageId: string | undefined): number {
    const { messages } = this.context
    const until = messageId === undefined ? messages.length : this.#indexOf(messageId)
    return lastPromptIndex(messages, until)
  }

  /** Returns the request settings that were used for the message at this index. */
  askedAt(at: number): PromptSettings {
    const message = this.context.messages[at]
    const loopId = message === undefined || message.role === 'extension' ? undefined : message.turnId?.loopId
    return (loopId === undefined ? undefined : this.#askedOf.get(loopId)) ?? {}
  }

  /** Remembers this loop's request settings for its messages. */
  noteAsked(loopId: string): void {
    const { asked } = this.context
    if (asked !== undefined) this.#askedOf.set(loopId, asked)
  }

  #indexOf(messageId: string): number {
    const at = this.context.messages.findIndex(({ id }) => id === messageId)
    if (at === -1) throw unknownMessage(`the history has no message with id ${quoted(messageId)}`)
    return at
  }

  /** Runs `begin` with the history up to index `at`, and restores the history if it throws. */
  rewound<Value>(at: number, begin: () => Value): Value {
    const before = this.context
    const messages = before.messages.slice(0, at)
    const { state, asked: _, ...rest } = before
    const kept = stateWithin(state, messages)
    // Copy the context, because `before` is restored on failure.
    this.context = { ...rest, messages, ...(kept !== undefined && { state: kept }) }
    try {
      return begin()
    } catch (error) {
      this.context = before
      throw error
    }
  }

  /** Copies the context state from `other`, which has the same history. */
  sendAs(other: Conversation): void {
    const { state } = other.context
    if (state !== undefined) this.context.state = state
    this.#askedOf = new Map(other.#askedOf)
  }

  /** Continues as a branch of `other`. Branches never share loop ids. */
  descendFrom(other: Conversation): void {
    const { lastLoopId, asked } = other.context
    // Both conversations use one object.
    this.context.loopCounts = other.context.loopCounts ??= {}
    if (lastLoopId !== undefined) this.context.lastLoopId = lastLoopId
    if (asked !== undefined) this.context.asked = asked
    this.recorder = other.recorder
    this.#isNewlyNamed = false
    this.#askedOf = other.#askedOf
    if (other.shared !== undefined) this.shared = other.shared
  }

  /** Clears the history. Identity and counts stay. Uses a new object, because the previous run still writes to the old one. */
  forget(): void {
    const { agentId, sessionId, loopCounts = {} } = this.context
    this.context = { ...blank, messages: [], agentId, sessionId, loopCounts }
    this.lastContext = undefined
  }

  /** Returns a snapshot with `settings`, as an independent copy in plain JSON. */
  snapshot(given: AgentSettings): AgentSnapshot {
    const { systemPrompt = '', thinking = given.model.config.settings?.thinking ?? 'off', maxTokens, temperature, configId } = given
    const { agentId, sessionId, lastLoopId, loopCounts = {}, messages, state = {}, asked, clientCalls } = this.context
    const { shared } = this
    const sharedState = shared && { version: shared.version, value: shared.value }
    const settings = {
      systemPrompt: typeof systemPrompt === 'string' ? systemPrompt : '',
      thinking,
      maxTokens,
      temperature,
      configId,
      request: toRecord(given),
    }
    // A JSON round trip copies and drops `undefined`.
    return JSON.parse(
      JSON.stringify({
        version: 1,
        createdAt: now(),
        agentId,
        sessionId,
        lastLoopId,
        loopCounts,
        messages,
        state,
        asked,
        askedOf: this.#askedOf.size === 0 ? undefined : Object.fromEntries(this.#askedOf),
        clientCalls: clientCalls?.length === 0 ? undefined : clientCalls,
        sharedState,
        settings,
      }),
    )
  }

  /** Restores a snapshot, recorded in `journal` if given. Takes ownership of the snapshot's objects. */
  become(
    { agentId, sessionId, lastLoopId, loopCounts, messages, state, asked, askedOf = {}, clientCalls, sharedState }: AgentSnapshot,
    journal?: SessionJournal,
  ): void {
    // Within a session, all forks share one counts object.
    const isSame = sessionId === this.context.sessionId
    const known = isSame ? this.context.loopCounts : undefined
    if (!isSame) this.lastActiveAt = undefined
    this.context = { ...blank, messages, state, agentId, sessionId, loopCounts: raiseCounts(known, loopCounts) }
    if (lastLoopId !== undefined) this.context.lastLoopId = lastLoopId
    if (asked !== undefined) this.context.asked = asked
    this.#askedOf = new Map(Object.entries(askedOf))
    if (clientCalls !== undefined) this.context.clientCalls = [...clientCalls]
    this.lastLoopId = lastLoopId
    if (journal !== undefined) this.recorder = { journal }
    this.shared?.become(sharedState, journal !== undefined && sharedState !== undefined)
  }

  /** Returns the journal, created from `session` if there is none. */
  journalIn(session: SessionStore): SessionJournal {
    this.recorder.journal ??= session.journal()
    return this.recorder.journal
  }

  /** Creates the shared state from `rules`, or shares another conversation's state. Records it in `journal`. */
  share(rules: Pick<SharedStateRules, 'begin'>, journal: () => Journal | undefined): void {
    this.shared = rules.begin({
      sessionId: () => this.context.sessionId,
      record: (entry) => journal()?.append(this.#recordOf(entry), this.context),
    })
  }

  /** Creates a record of the session as a whole. */
  #recordOf(entry: JournalEntry): JournalRecord {
    const { agentId, sessionId } = this.context
    return { agentId, sessionId, loopId: this.lastLoopId ?? '', runId: '', turnIndex: 0, at: now(), entry }
  }

  /** Names the stored session. Rejects with `SessionError` `notFound` if it is not stored. */
  async rename(title: string): Promise<void> {
    const { journal } = this.recorder
    if (journal === undefined || this.lastLoopId === undefined) {
      throw new SessionError('notFound', 'This session is not stored yet. Create the agent with a session store and send a prompt first.')
    }
    await journal.append(this.#recordOf({ type: 'title', title }), this.context)
  }

  /** Starts a new session id with the same history and returns it; with `idleMs`, only if the last run started longer ago. */
  rotate(idleMs?: number): string {
    const { messages, state, agentId, sessionId: previousSessionId } = this.context
    const at = now()
    if (idleMs !== undefined && at - (this.lastActiveAt ?? at) <= idleMs) return previousSessionId
    const formation: SessionFormation =
      idleMs === undefined
        ? { type: 'explicit', at }
        : { type: 'inactivityTimeout', at, thresholdSecs: Math.floor(idleMs / 1000), previousSessionId }
    const sessionId = newId()
    this.context = { ...blank, messages, agentId, sessionId, formation, ...(state !== undefined && { state }) }
    this.lastLoopId = this.lastActiveAt = undefined
    return sessionId
  }
}

/** Returns a validated copy of `snapshot`. Throws `SessionError` if it is invalid. */
export function snapshotCopy(snapshot: AgentSnapshot): AgentSnapshot {
  checkDocument(snapshot, 'snapshot', 'invalidOption')
  return structuredClone(checkSnapshot(snapshot))
}

function unknownMessage(what: string): ConfigError {
  return new ConfigError('unknownMessage', `Cannot go back: ${what}. Use an id from agent.messages.`)
}

function quoted(id: string): string {
  return JSON.stringify(String(id).slice(0, 100))
}

/**
 * Returns the settings that a snapshot restores. Lists them by name, because unknown fields from newer versions must not disable a limit.
 * Keeps a system prompt function, because snapshots cannot store code.
 */
export function settingsOf(stored: NonNullable<AgentSnapshot['settings']>, current: Pick<AgentSettings, 'systemPrompt'>) {
  const { thinking, maxTokens, temperature, configId, request = {} } = stored
  const { systemPrompt } = typeof current.systemPrompt === 'function' ? current : stored
  return { systemPrompt, thinking, maxTokens, temperature, configId, ...toRecord(request) }
}
