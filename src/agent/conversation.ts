import { copyJson } from '../base/json/json-value.ts'
import { logWarning } from '../base/log-warning.ts'
import { waitingApprovals, waitingClientCalls } from '../base/questions.ts'
import type { ContextState } from '../contract/context/context-change.ts'
import { ConfigError, SessionError } from '../contract/errors.ts'
import { toEntry, toHistory } from '../contract/message/history.ts'
import { newId } from '../contract/message/identity.ts'
import { type AgentMessage, lastSaidAt, type MessageInput, now } from '../contract/message/message.ts'
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

/** What of `state` is about these messages alone: what names later ones does not hold for a history that ends before them. */
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

/** What a loop fills in when it begins. */
const blank = { systemPrompt: '', tools: [] }

/**
 * What was said in an agent's session, and who said it: history, what of it is sent, identity, ids of its loops.
 *
 * Source: docs/concepts/sessions.md
 */
export class Conversation {
  context: AgentContext & { agentId: string; sessionId: string }
  /** Id of the loop started last. */
  lastLoopId: string | undefined
  /** When the last run of this session began, epoch ms. */
  lastActiveAt: number | undefined
  /** Where it is recorded. Shared with forks: a session has one writer. */
  recorder: { journal?: SessionJournal } = {}
  /** What it shares with its pages. Shared with forks too. */
  shared: SessionState | undefined
  /** What was asked of the requests of loops, by their ids. Shared with forks. */
  #askedOf = new Map<string, PromptSettings>()
  /** The session has an id of the caller, and no run has begun. */
  #isNewlyNamed: boolean

  constructor(messages: readonly MessageInput[], agentId: string = newId(), sessionId?: string) {
    this.context = { ...blank, messages: toHistory(messages, 'messages'), agentId, sessionId: sessionId ?? newId() }
    this.#isNewlyNamed = sessionId !== undefined
  }

  /** Warns before the first run of a session that the caller named and nobody stores: its id alone keeps nothing. */
  warnIfUnstored({ session, journal, logger }: Pick<AgentSettings, 'session' | 'journal' | 'logger'>): void {
    const isUnstored = this.#isNewlyNamed && session === undefined && journal === undefined && this.recorder.journal === undefined
    this.#isNewlyNamed = false
    if (!isUnstored) return
    const { agentId, sessionId } = this.context
    logWarning(logger, 'sessionNotStored', {
      sessionId,
      agentId,
      message: 'The agent has a sessionId and no store: nothing of its session is stored or read.',
      hint: 'Pass session: a store, or make the agent with resumeAgent(store, id, settings).',
    })
  }

  /** Calls at the end of the history that wait for a person, or would: those whose process ended before anybody could answer. */
  pendingApprovals(tools: readonly AgentTool[]): PendingApproval[] {
    const rules = new Map(tools.map(({ name, needsApproval = false }) => [name, needsApproval]))
    return copyJson(waitingApprovals(this.context.messages, (name) => (rules.get(name) ?? false) !== false))
  }

  /** Calls at the end of the history that wait for a page, or would. A person may have to be asked first. */
  pendingClientCalls(tools: readonly AgentTool[]): PendingClientCall[] {
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    const runs = (name: string): boolean => {
      const tool = byName.get(name)
      return tool?.client !== undefined && (tool.needsApproval ?? false) === false
    }
    return copyJson(waitingClientCalls(this.context.messages, runs))
  }

  append(message: MessageInput): void {
    this.context.messages.push(toEntry(message, 'message'))
  }

  /** Another history; what was sent of the old one says nothing about it. */
  replace(messages: readonly MessageInput[]): void {
    this.context.messages = toHistory(messages, 'messages')
    delete this.context.state
    delete this.context.asked
  }

  /** Where the user message with this id stands. Throws `ConfigError` `unknownMessage`. */
  userMessageAt(messageId: string): number {
    const at = this.#indexOf(messageId)
    if (lastSaidAt(this.context.messages, at) === at) return at
    throw unknownMessage(`${quoted(messageId)} is not what a user said`)
  }

  /** Where the last thing stands that a user said: by the message with this id, or at all; -1 for nothing. Throws `ConfigError` `unknownMessage`. */
  lastSaidBy(messageId: string | undefined): number {
    const { messages } = this.context
    const until = messageId === undefined ? messages.length : this.#indexOf(messageId)
    return lastSaidAt(messages, until)
  }

  /** What was asked of requests when the message at this place was sent. */
  askedAt(at: number): PromptSettings {
    const message = this.context.messages[at]
    const loopId = message === undefined || message.role === 'extension' ? undefined : message.turnId?.loopId
    return (loopId === undefined ? undefined : this.#askedOf.get(loopId)) ?? {}
  }

  /** Remembers, for messages of this loop, what is asked of its requests. */
  noteAsked(loopId: string): void {
    const { asked } = this.context
    if (asked !== undefined) this.#askedOf.set(loopId, asked)
  }

  #indexOf(messageId: string): number {
    const at = this.context.messages.findIndex(({ id }) => id === messageId)
    if (at === -1) throw unknownMessage(`the history has no message with id ${quoted(messageId)}`)
    return at
  }

  /** Does what `begin` does, with the history up to entry `at`. All of it is back where that throws. */
  rewound<Value>(at: number, begin: () => Value): Value {
    const before = this.context
    const messages = before.messages.slice(0, at)
    const { state, asked: _, ...rest } = before
    const kept = stateWithin(state, messages)
    // A new object: `before` stays as it was.
    this.context = { ...rest, messages, ...(kept !== undefined && { state: kept }) }
    try {
      return begin()
    } catch (error) {
      this.context = before
      throw error
    }
  }

  /** Sends of this history what `other` sends of the same one. */
  sendAs(other: Conversation): void {
    const { state } = other.context
    if (state !== undefined) this.context.state = state
    this.#askedOf = new Map(other.#askedOf)
  }

  /** Goes on from where `other` is, as a branch of it: no two branches get the same loop id. */
  descendFrom(other: Conversation): void {
    const { lastLoopId, asked } = other.context
    // One object for both.
    this.context.loopCounts = other.context.loopCounts ??= {}
    if (lastLoopId !== undefined) this.context.lastLoopId = lastLoopId
    if (asked !== undefined) this.context.asked = asked
    this.recorder = other.recorder
    this.#isNewlyNamed = false
    this.#askedOf = other.#askedOf
    if (other.shared !== undefined) this.shared = other.shared
  }

  /** Forgets the history; identity and counts stay. A new object, because the run that was on still writes to the old one. */
  forget(): void {
    const { agentId, sessionId, loopCounts = {} } = this.context
    this.context = { ...blank, messages: [], agentId, sessionId, loopCounts }
  }

  /** Everything needed to go on from here, with `settings`, as plain JSON of its own. */
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
    // Through JSON: a copy, without what is undefined.
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

  /** Becomes what `snapshot` describes, recorded in `journal` where there is one; its lists and objects are this conversation's own from now on. */
  become(
    { agentId, sessionId, lastLoopId, loopCounts, messages, state, asked, askedOf = {}, clientCalls, sharedState }: AgentSnapshot,
    journal?: SessionJournal,
  ): void {
    // Within a session the counts stay one object: forks hold it too.
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

  /** Where it is recorded: in `session`, unless it has a journal already. */
  journalIn(session: SessionStore): SessionJournal {
    this.recorder.journal ??= session.journal()
    return this.recorder.journal
  }

  /** Shares what `rules` say, or what another conversation does, recorded in `journal`. */
  share(rules: Pick<SharedStateRules, 'begin'>, journal: () => Journal | undefined): void {
    this.shared = rules.begin({
      sessionId: () => this.context.sessionId,
      record: (entry) => journal()?.append(this.#recordOf(entry), this.context),
    })
  }

  /** A record of the session as a whole. */
  #recordOf(entry: JournalEntry): JournalRecord {
    const { agentId, sessionId } = this.context
    return { agentId, sessionId, loopId: this.lastLoopId ?? '', runId: '', turnIndex: 0, at: now(), entry }
  }

  /** Names the session where it is recorded. Rejects with `SessionError` `notFound` where it is not. */
  async rename(title: string): Promise<void> {
    const { journal } = this.recorder
    if (journal === undefined || this.lastLoopId === undefined) {
      throw new SessionError('notFound', 'Nothing of this session is stored yet. Make the agent with a session store, and prompt it first.')
    }
    await journal.append(this.#recordOf({ type: 'title', title }), this.context)
  }

  /** Goes on under a new session id, with the same history, and returns it; with `idleMs`, only when the last run began longer ago. */
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

/** A copy of `snapshot`, checked. Throws `SessionError` for what is none. */
export function snapshotCopy(snapshot: AgentSnapshot): AgentSnapshot {
  checkDocument(snapshot, 'snapshot', 'invalidOption')
  return structuredClone(checkSnapshot(snapshot))
}

function unknownMessage(what: string): ConfigError {
  return new ConfigError('unknownMessage', `There is nothing to go back to: ${what}. Take the id from agent.messages.`)
}

function quoted(id: string): string {
  return JSON.stringify(String(id).slice(0, 100))
}

/** The settings that a snapshot brings back. By name: it may hold more than this version knows, and must not switch off a limit. */
export function settingsOf({
  systemPrompt,
  thinking,
  maxTokens,
  temperature,
  configId,
  request = {},
}: NonNullable<AgentSnapshot['settings']>) {
  return { systemPrompt, thinking, maxTokens, temperature, configId, ...toRecord(request) }
}
