import { headOf } from '../../base/text/characters.ts'
import { type AgentMessage, textOf } from '../../contract/message/message.ts'
import type { SessionStatus } from '../../contract/session/session.ts'
import type { SessionEntry, SessionRecord } from '../../contract/session/session-record.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { kind } from '../../contract/shape/shape.ts'
import type { SessionDigest } from '../../types/session/session-store.ts'

/** How long a title may be, in UTF-16 units. */
export const maxTitleChars = 100

/** Of a text, so much can matter for a title: the rest is not looked at. */
const lookedAt = 1000

/** What is known before the first record. */
export const emptyDigest: SessionDigest = { loops: 0, messages: 0 }

/** The digest once `record` is stored too. Gives `digest` itself where the record changes nothing in it. */
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
      return { ...digest, messages: digest.messages + 1, ...titled(digest.title ?? saidIn([entry.message])) }
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
  return { ...digest, ...counts, status: statusAfter(loop.status), ...titled(digest.title ?? saidIn(loop.messages)) }
}

/** How a session stands whose last loop has ended so. */
function statusAfter(ended: string): SessionStatus {
  return ended === 'paused' ? 'waiting' : 'idle'
}

/** What lists say of a session with these records, a title of its own first. `before` is that of what comes before them. */
export function digestOf(
  records: Iterable<{ entry: SessionRecord['entry']; at?: number | undefined }>,
  before: SessionDigest = emptyDigest,
): SessionDigest {
  let digest = before
  for (const record of records) digest = advanceDigest(digest, record)
  return digest
}

/** What one record adds to any digest. Holds nothing of the record. */
export interface DigestStep extends SessionDigest {
  /** Whether the title is the session's name, whatever was said before. */
  isNamed: boolean
}

/** With `hasTitle` nothing is made of what somebody says: a title stands before it. */
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

/** What a user said first in them. */
function saidIn(messages: readonly AgentMessage[]): string | undefined {
  for (const message of messages) {
    const text = message.role === 'user' ? textOf(message.content).slice(0, lookedAt).trim() : ''
    if (text !== '') return text
  }
  return undefined
}

function titled(title: string | undefined): { title?: string } {
  return title === undefined ? {} : { title: oneLine(title) }
}

/** On one line, without what turns the direction of writing, and cut between characters. */
function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu, ' ').trim()
  if (line.length <= maxTitleChars) return line
  return `${headOf(line, maxTitleChars - 1)}…`
}

const aTitle = kind(`a title of 1 to ${maxTitleChars} characters`, (value) => typeof value === 'string' && isTitle(value))

/** Whether a session may be called so. */
export function isTitle(text: string): boolean {
  const length = text.length > maxTitleChars ? text.length : oneLine(text).length
  return length > 0 && length <= maxTitleChars
}

/** The name that somebody gives a session, on one line. Throws `ConfigError` `invalidOption` for what is none. */
export function toTitle(title: string): string {
  checkOptions(title, aTitle, 'title')
  return oneLine(title)
}

/** Whose session a log is of; empty where nothing was said in it. */
export function agentIdOf(records: readonly SessionRecord[]): string {
  for (const { entry } of records) if (entry.type === 'sessionStart') return entry.agentId
  return ''
}
