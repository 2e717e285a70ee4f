import { JournalError, toRunFailure } from '../../contract/errors.ts'
import { type AgentMessage, now } from '../../contract/message/message.ts'
import { combineUsage, emptyUsage } from '../../contract/model/usage.ts'
import type { SessionEntry, SessionRecord } from '../../contract/session/session-record.ts'
import type { JournaledConversation } from '../../types/session/journal.ts'
import type { NewSessionRecord } from '../../types/session/session-store.ts'
import { sessionOfChild } from '../views/navigation.ts'
import { beginsWith } from './history-ends.ts'

/** A loop of which a store has refused something. */
interface CutOffLoop {
  parentLoopId: string | undefined
  /** The history it wrote to, and how much of it was there before. */
  messages: readonly AgentMessage[]
  from: number
  refused: NewSessionRecord[]
  error: unknown
  /** What the log has of it, by `keyOf`; unknown until the log was opened again. */
  stored: Set<string>
}

/** Where a loop began. */
type LoopBeginning = Pick<CutOffLoop, 'parentLoopId' | 'messages' | 'from'>

/** What is missing in the log of the loops that lead to one. */
export interface MissingRecords {
  records: NewSessionRecord[]
  /** Whether the log then has the whole history. */
  isWhole: boolean
}

/** Remembers which loops a store has cut off, and what of them it has not got: so that only that is written when writing goes on. */
export class CutOffLoops {
  readonly #begun = new Map<string, LoopBeginning>()
  readonly #cutOff = new Map<string, CutOffLoop>()

  get isEmpty(): boolean {
    return this.#cutOff.size === 0
  }

  /** A loop begins, or it has ended and no more is said of it. */
  begin(loopId: string, parentLoopId: string | undefined, { messages }: JournaledConversation): void {
    this.#begun.set(loopId, { parentLoopId, messages, from: messages.length })
  }

  /** The end of a loop is stored. */
  end(loopId: string): void {
    this.#begun.delete(loopId)
  }

  /** A store has refused records of `loopId`, and perhaps written some of them all the same. */
  refuse(loopId: string, records: readonly NewSessionRecord[], error: unknown): void {
    const known = this.#cutOff.get(loopId)
    const beginning = this.#begun.get(loopId)
    if (known !== undefined) known.refused.push(...records)
    else if (beginning !== undefined) this.#cutOff.set(loopId, { ...beginning, refused: [...records], error, stored: new Set() })
    this.#begun.delete(loopId)
  }

  /** The log was opened again, with these records. */
  reopened(records: readonly SessionRecord[]): void {
    if (this.isEmpty) return
    for (const record of records) {
      if (record.loopId !== undefined && record.entry.type !== 'unknown')
        this.#cutOff.get(record.loopId)?.stored.add(keyOf(record, record.entry))
    }
  }

  /** What is missing of the loops that end with `loopId`, for a conversation that goes on from there; `undefined` where nothing is. */
  missing(loopId: string | undefined, conversation: JournaledConversation): MissingRecords | undefined {
    const chain = this.#chain(loopId)
    if (chain.length === 0) return undefined
    const found: MissingRecords = { records: [], isWhole: true }
    for (const [at, [id, loop]] of chain.entries()) {
      const next = chain[at + 1]?.[1].from
      // Who has changed the history since does not want what was in it.
      const isKept = beginsWith(conversation.messages, loop.messages, next ?? loop.messages.length)
      const own = isKept ? conversation.messages.slice(loop.from, next) : []
      if (!isKept || loop.refused.some(({ entry }) => isChange(entry))) found.isWhole = false
      found.records.push(...missingOf(id, loop, own))
    }
    return found
  }

  /** What was missing of these loops is stored. */
  restored(loopId: string | undefined): void {
    for (const [id] of this.#chain(loopId)) this.#cutOff.delete(id)
  }

  /** The session is gone: nothing is missing of it any more. */
  clear(): void {
    this.#cutOff.clear()
    this.#begun.clear()
  }

  #chain(loopId: string | undefined): [string, CutOffLoop][] {
    const chain: [string, CutOffLoop][] = []
    for (let id = loopId; id !== undefined; ) {
      const loop = this.#cutOff.get(id)
      if (loop === undefined) break
      chain.unshift([id, loop])
      id = loop.parentLoopId
    }
    return chain
  }
}

/** What the log lacks of a loop: what it refused and still holds, what the loop had to add after that, and its end. */
function missingOf(loopId: string, { refused, error, stored }: CutOffLoop, own: readonly AgentMessage[]): NewSessionRecord[] {
  const ids = new Set(own.map(({ id }) => id))
  const known = new Set(stored)
  const missing: NewSessionRecord[] = []
  const add = (record: NewSessionRecord) => {
    const key = keyOf(record, record.entry)
    if (!known.has(key)) missing.push(record)
    known.add(key)
  }
  // A tool whose intent was refused was not run.
  const isKept = ({ entry }: NewSessionRecord) =>
    'message' in entry ? ids.has(entry.message.id) : entry.type !== 'toolIntent' && !isChange(entry)
  for (const record of refused.filter(isKept)) add(record)
  for (const message of own) for (const entry of entriesOf(message)) add(placed(loopId, message, entry))
  add({ loopId, entry: { type: 'loopEnd', status: 'error', usage: usageOf(own), error: toRunFailure(new JournalError(error)) } })
  return missing
}

function isChange({ type }: SessionEntry): boolean {
  return type === 'compaction' || type === 'prune' || type === 'revert'
}

/** What tells the records of one loop apart. */
function keyOf({ turnIndex }: Pick<NewSessionRecord, 'turnIndex'>, entry: SessionEntry): string {
  if ('message' in entry) return `message ${entry.message.id}`
  if (entry.type === 'childLoop') return `childLoop ${entry.ref.toolCallId} ${entry.ref.childLoopId}`
  // Of these a loop has one.
  return entry.type === 'loopStart' || entry.type === 'loopEnd' || entry.type === 'history' ? entry.type : `${entry.type} ${turnIndex}`
}

/** The records of a message. */
function entriesOf(message: AgentMessage): SessionEntry[] {
  if (message.role === 'assistant') return [{ type: 'assistant', message }]
  return message.role === 'toolResult' ? resultEntries(message) : [{ type: 'input', message }]
}

/** The record of a result, and of the loop that a sub-agent ran for it: its session is the part of the loop's id before `.sub.`. */
export function resultEntries(message: AgentMessage): SessionEntry[] {
  const result: SessionEntry = { type: 'toolResult', message }
  if (message.role !== 'toolResult' || message.childLoopId === undefined) return [result]
  const { toolCallId, toolName, childLoopId } = message
  return [result, { type: 'childLoop', ref: { toolCallId, toolName, childLoopId, childSessionId: sessionOfChild(childLoopId) } }]
}

function placed(loopId: string, message: AgentMessage, entry: SessionEntry): NewSessionRecord {
  if (message.role === 'extension') return { loopId, at: now(), entry }
  const { turnId, timestamp: at } = message
  return { loopId, at, entry, ...(turnId !== undefined && { turnIndex: turnId.turnIndex }) }
}

function usageOf(messages: readonly AgentMessage[]) {
  return messages.flatMap((message) => (message.role === 'assistant' ? [message.usage] : [])).reduce(combineUsage, emptyUsage())
}
