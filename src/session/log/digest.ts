import { headOf } from '../../base/text/characters.ts'
import { type AgentMessage, textOf } from '../../contract/message/message.ts'
import type { SessionStatus } from '../../contract/session/session.ts'
import type { SessionEntry, SessionRecord } from '../../contract/session/session-record.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { kind } from '../../contract/shape/shape.ts'
import type { SessionDigest, SessionSummary } from '../../types/session/session-store.ts'

/** Maximum length of a title in UTF-16 units. */
export const maxTitleChars = 100

/** Maximum characters of a text to examine for a title. */
const lookedAt = 1000

/** Digest of an empty log. */
export const emptyDigest: SessionDigest = { loops: 0, messages: 0 }

/** Returns the digest including `record`, or the same object if nothing changed. */
export function advanceDigest(
  digest: SessionDigest,
  { entry, at }: { entry: SessionRecord['entry']; at?: number | undefined },
): SessionDigest {
  switch (entry.type) {
    case 'sessionStart': {
      const { agentId, owner, title = digest.title } = entry
      return { ...digest, agentId, ...(owner !== undefined && { owner }), ...(at !== undefined && { createdAt: at }), ...titled(title) }
    }
    case 'title':
      return { ...digest, ...titled(entry.title) }
    case 'loopStart':
      return { ...digest, loops: digest.loops + 1, status: 'running' }
    case 'loopEnd':
      return { ...digest, status: statusAfter(entry.status) }
    case 'input':
    case 'assistant':
    case 'toolResult':
      return { ...digest, messages: digest.messages + 1, ...titled(digest.title ?? promptTextIn([entry.message])) }
    case 'recovered':
      return { ...digest, messages: digest.messages + entry.messages.length }
    case 'loop':
      return withLoop(digest, entry)
    default:
      return digest
  }
}

function withLoop({ loops, messages, ...digest }: SessionDigest, { loop }: Extract<SessionEntry, { type: 'loop' }>): SessionDigest {
  const counts = { loops: loops + 1, messages: messages + loop.messages.length }
  return { ...digest, ...counts, status: statusAfter(loop.status), ...titled(digest.title ?? promptTextIn(loop.messages)) }
}

/** Returns the session status for the way the last loop ended. */
function statusAfter(ended: string): SessionStatus {
  return ended === 'paused' ? 'waiting' : 'idle'
}

/**
 * Returns the list summary of a session with these records. An explicit title takes precedence. `before` is the digest of earlier records.
 */
export function digestOf(
  records: Iterable<{ entry: SessionRecord['entry']; at?: number | undefined }>,
  before: SessionDigest = emptyDigest,
): SessionDigest {
  let digest = before
  for (const record of records) digest = advanceDigest(digest, record)
  return digest
}

/** One record's contribution to a digest, without a reference to the record. */
export interface DigestStep extends SessionDigest {
  /** Whether the title is an explicit name, which replaces a derived one. */
  isNamed: boolean
}

/** Returns a record's contribution. With `hasTitle`, derives no title from messages. */
export function stepOf({ entry, at }: Pick<SessionRecord, 'entry' | 'at'>, hasTitle: boolean): DigestStep {
  const isNamed = entry.type === 'title' || (entry.type === 'sessionStart' && entry.title !== undefined)
  const { title, ...step } = advanceDigest(hasTitle ? { ...emptyDigest, title: '' } : emptyDigest, { entry, at })
  return { ...step, isNamed, ...(title && { title }) }
}

export function addStep(digest: SessionDigest, { loops, messages, title, isNamed, ...start }: DigestStep): SessionDigest {
  const titled = isNamed ? title : (digest.title ?? title)
  const counts = { loops: digest.loops + loops, messages: digest.messages + messages }
  return { ...digest, ...start, ...counts, ...(titled !== undefined && { title: titled }) }
}

/** Returns the first user text. */
function promptTextIn(messages: readonly AgentMessage[]): string | undefined {
  for (const message of messages) {
    const text = message.role === 'user' ? textOf(message.content).slice(0, lookedAt).trim() : ''
    if (text !== '') return text
  }
  return undefined
}

function titled(title: string | undefined): { title?: string } {
  return title === undefined ? {} : { title: oneLine(title) }
}

/** Returns text on one line, without bidirectional control characters, and truncated between characters. */
function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu, ' ').trim()
  if (line.length <= maxTitleChars) return line
  return `${headOf(line, maxTitleChars - 1)}…`
}

const aTitle = kind(`a title of 1 to ${maxTitleChars} characters`, (value) => typeof value === 'string' && isTitle(value))

/** Returns whether a text is valid as a session title. */
export function isTitle(text: string): boolean {
  const length = text.length > maxTitleChars ? text.length : oneLine(text).length
  return length > 0 && length <= maxTitleChars
}

/** Normalizes a session title to one line. Throws `ConfigError` `invalidOption` if it is invalid. */
export function toTitle(title: string): string {
  checkOptions(title, aTitle, 'title')
  return oneLine(title)
}

/** Returns a log's agent id, or an empty string if the log has no loops. */
export function agentIdOf(records: readonly SessionRecord[]): string {
  for (const { entry } of records) if (entry.type === 'sessionStart') return entry.agentId
  return ''
}

/** Returns a session's list entry from a database row. `digest` is the session's `SessionDigest` as JSON. */
export function summaryOfRow({ session_id, agent_id, created_at, last_active_at, digest }: Record<string, unknown>): SessionSummary {
  const times = { createdAt: Number(created_at), lastActiveAt: Number(last_active_at) }
  const summary = digestIn(digest)
  if (summary !== undefined) return { ...summary, sessionId: String(session_id), agentId: String(agent_id), ...times }
  const message = `The summary of session ${session_id} is damaged in the database. The next message replaces it.`
  return { loops: 0, messages: 0, sessionId: String(session_id), agentId: '', ...times, error: { code: 'invalidSession', message } }
}

/** Returns `undefined` for an invalid digest, so that one foreign row does not break the list. */
function digestIn(text: unknown): SessionDigest | undefined {
  if (typeof text !== 'string') return emptyDigest
  try {
    const digest: SessionDigest | null = JSON.parse(text)
    return typeof digest?.loops === 'number' && typeof digest.messages === 'number' ? digest : undefined
  } catch {
    return undefined
  }
}
