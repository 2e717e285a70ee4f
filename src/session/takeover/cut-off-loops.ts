import { JournalError, toRunFailure } from '../../contract/errors.ts'
import { type AgentMessage, now } from '../../contract/message/message.ts'
import { combineUsage, emptyUsage } from '../../contract/model/usage.ts'
import type { SessionEntry, SessionRecord } from '../../contract/session/session-record.ts'
import type { JournaledConversation } from '../../types/session/journal.ts'
import type { NewSessionRecord } from '../../types/session/session-store.ts'
import { sessionOfChild } from '../views/navigation.ts'
import { beginsWith } from './history-ends.ts'

/** A loop with a rejected record. */
interface CutOffLoop {
  parentLoopId: string | undefined
  /** The loop's history, and the history's length when the loop started. */
  messages: readonly AgentMessage[]
  from: number
  refused: NewSessionRecord[]
  error: unknown
  /** The loop's records in the log, by `keyOf`. Unknown until the log is reopened. */
  stored: Set<string>
}

/** The start of a loop. */
type LoopBeginning = Pick<CutOffLoop, 'parentLoopId' | 'messages' | 'from'>

/** Records missing in the log for a loop and its ancestors. */
export interface MissingRecords {
  records: NewSessionRecord[]
  /** Whether the log contains the whole history after these records are written. */
  isWhole: boolean
}

/** Tracks loops with rejected records, so that only the missing records are written later. */
export class CutOffLoops {
  readonly #begun = new Map<string, LoopBeginning>()
  readonly #cutOff = new Map<string, CutOffLoop>()

  get isEmpty(): boolean {
    return this.#cutOff.size === 0
  }

  /** Updates the tracked loops when a loop starts or ends. */
  begin(loopId: string, parentLoopId: string | undefined, { messages }: JournaledConversation): void {
    this.#begun.set(loopId, { parentLoopId, messages, from: messages.length })
  }

  /** Called when a loop's end has been stored. */
  end(loopId: string): void {
    this.#begun.delete(loopId)
  }

  /** Called when the store rejected records of `loopId`, some of which it may have written. */
  refuse(loopId: string, records: readonly NewSessionRecord[], error: unknown): void {
    const known = this.#cutOff.get(loopId)
    const beginning = this.#begun.get(loopId)
    if (known !== undefined) known.refused.push(...records)
    else if (beginning !== undefined) this.#cutOff.set(loopId, { ...beginning, refused: [...records], error, stored: new Set() })
    this.#begun.delete(loopId)
  }

  /** Called when the log was reopened with these records. */
  reopened(records: readonly SessionRecord[]): void {
    if (this.isEmpty) return
    for (const record of records) {
      if (record.loopId !== undefined && record.entry.type !== 'unknown')
        this.#cutOff.get(record.loopId)?.stored.add(keyOf(record, record.entry))
    }
  }

  /** Returns the records missing for a conversation that continues from `loopId`, or `undefined` if there are none. */
  missing(loopId: string | undefined, conversation: JournaledConversation): MissingRecords | undefined {
    const chain = this.#chain(loopId)
    if (chain.length === 0) return undefined
    const found: MissingRecords = { records: [], isWhole: true }
    for (const [at, [id, loop]] of chain.entries()) {
      const next = chain[at + 1]?.[1].from
      // If the owner replaced the history, its old messages are not restored.
      const isKept = beginsWith(conversation.messages, loop.messages, next ?? loop.messages.length)
      const own = isKept ? conversation.messages.slice(loop.from, next) : []
      if (!isKept || loop.refused.some(({ entry }) => isChange(entry))) found.isWhole = false
      found.records.push(...missingOf(id, loop, own))
    }
    return found
  }

  /** Called when the missing records of these loops are stored. */
  restored(loopId: string | undefined): void {
    for (const [id] of this.#chain(loopId)) this.#cutOff.delete(id)
  }

  /** Called when the session was deleted. From then on, no records count as missing. */
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

/** Returns the part of a loop that is missing in the log: rejected records, later messages, and the end. */
function missingOf(loopId: string, { refused, error, stored }: CutOffLoop, own: readonly AgentMessage[]): NewSessionRecord[] {
  const ids = new Set(own.map(({ id }) => id))
  const known = new Set(stored)
  const missing: NewSessionRecord[] = []
  const add = (record: NewSessionRecord) => {
    const key = keyOf(record, record.entry)
    if (!known.has(key)) missing.push(record)
    known.add(key)
  }
  // A tool whose intent was rejected did not run.
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

/** Returns a key that is unique within a loop. */
function keyOf({ turnIndex }: Pick<NewSessionRecord, 'turnIndex'>, entry: SessionEntry): string {
  if ('message' in entry) return `message ${entry.message.id}`
  if (entry.type === 'childLoop') return `childLoop ${entry.ref.toolCallId} ${entry.ref.childLoopId}`
  // A loop has at most one entry of each of these types, so the type alone is the key.
  return entry.type === 'loopStart' || entry.type === 'loopEnd' || entry.type === 'history' ? entry.type : `${entry.type} ${turnIndex}`
}

/** Returns a message's records. */
function entriesOf(message: AgentMessage): SessionEntry[] {
  if (message.role === 'assistant') return [{ type: 'assistant', message }]
  return message.role === 'toolResult' ? resultEntries(message) : [{ type: 'input', message }]
}

/**
 * Returns the records of a result and of the sub-agent loop that produced it. The session of that loop is the part of its id before
 * `.sub.`.
 */
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
