import { SessionError } from '../../contract/errors.ts'
import type { SessionRecord } from '../../contract/session/session-record.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFlag, aText, options as optionsOf } from '../../contract/shape/shape.ts'
import type { SessionStore } from '../../types/session/session-store.ts'
import { readLog } from './read-log.ts'
import { encodeLine, encodeRecord, lineStart } from './record-codec.ts'

/** What the first line of an exported session says. */
interface ExportHead {
  format: typeof format
  version: typeof version
  sessionId: string
  agentId: string
  records: number
}

const format = 'phi-core session'
const version = 1
/** Exports have no writer of their own, so that equal records give equal text. */
const writer = 'export'

/** How a session comes into a store. */
export interface ImportSessionOptions {
  /** The id it has there. Default: the one it had. */
  sessionId?: string
  /** Whether it takes the place of a session that is there under this id. Default `false`: then that is `conflict`. */
  replace?: boolean
}

const importOptions = optionsOf<ImportSessionOptions>({ sessionId: aText, replace: aFlag })

/**
 * The whole log of a session as text: lines of JSON, each record with a checksum. `importSession` brings it into any store, where it goes on with
 * everything that was pending: an unfinished run, calls that wait for an approval, idempotent calls that were begun.
 *
 * **Contract**
 * - The same records give the same text, in every store and on every runtime.
 * - Close the agent that writes the session first (`agent.close()`): what it has not written yet is not in it.
 * - Rejects with `SessionError` `notFound`; `invalidSession` where the log is damaged: salvage it first.
 *
 * Source: docs/concepts/sessions.md
 */
export async function exportSession(store: Pick<SessionStore, 'tail'>, sessionId: string): Promise<string> {
  const { records, damage } = await store.tail(sessionId)
  if (damage !== undefined) {
    throw new SessionError('invalidSession', `Session ${sessionId} is damaged: ${damage.reason} Salvage it, and export what that gives.`)
  }
  const start = lineStart({ epoch: 1, writer, from: 1, whole: records.length })
  const lines = records.map((record, at) => encodeLine(start, at + 1, encodeRecord(record)))
  const head: ExportHead = { format, version, sessionId, agentId: agentOf(records), records: records.length }
  return `${[JSON.stringify(head), ...lines].join('\n')}\n`
}

/**
 * Stores what `exportSession` gave, record by record, and reads it back. Resolves with the id of the session.
 *
 * **Contract**
 * - All of it or nothing, whenever the process ends: the text is written beside the session that is there, counts with its last record, and is read
 *   back; only then the other one is deleted.
 * - `invalidSession` for text that was changed or cut, `newerSchema` for that of a newer version, `conflict` where the store has a session with
 *   this id; then nothing was written.
 * - An export of the imported session is the same text again, but for the id.
 * - Rejects with `SessionError`: also `invalidId`, `quota`, `io`.
 *
 * Source: docs/concepts/sessions.md
 */
export async function importSession(store: SessionStore, text: string, options: ImportSessionOptions = {}): Promise<string> {
  checkOptions(options, importOptions)
  const { head, records } = parseExport(text)
  const { sessionId = head.sessionId, replace = false } = options
  const target = await store.open(sessionId, { agentId: head.agentId })
  try {
    if (target.records.length > 0 && !replace) {
      throw new SessionError('conflict', `There is a session ${sessionId} already. Import it under another id, or with replace: true.`)
    }
    await target.replace(records.map(({ epoch: _epoch, seq: _seq, ...record }) => record))
  } finally {
    await target.close()
  }
  return sessionId
}

/** Reads an export. Throws `SessionError` `invalidSession` and `newerSchema`. */
function parseExport(text: string): { head: ExportHead; records: SessionRecord[] } {
  const [first = '', ...lines] = text.split(/\r?\n/).filter((line) => line !== '')
  const head = headOf(first)
  const { records, damage, hasNewer } = readLog(lines)
  if (hasNewer) throw newer()
  if (head.records === 0) throw invalid('it has no records.')
  if (damage !== undefined || records.length !== head.records) {
    throw invalid(damage?.reason ?? `it has ${records.length} of ${head.records} records.`)
  }
  return { head, records }
}

function headOf(line: string): ExportHead {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    value = undefined
  }
  if (!isRecord(value) || value.format !== format) throw invalid('its first line is not that of an exported session.')
  if (value.version !== version) throw newer()
  const { sessionId, agentId, records } = value
  if (typeof sessionId !== 'string' || typeof agentId !== 'string' || !Number.isSafeInteger(records))
    throw invalid('its first line is incomplete.')
  return { format, version, sessionId, agentId, records: Number(records) }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function agentOf(records: readonly SessionRecord[]): string {
  for (const { entry } of records) if (entry.type === 'sessionStart') return entry.agentId
  return ''
}

function invalid(reason: string): SessionError {
  return new SessionError('invalidSession', `The text cannot be imported: ${reason} Export the session again, and send all of the text.`)
}

function newer(): SessionError {
  return new SessionError('newerSchema', 'The text was exported by a newer version of this package. Update it here, and import again.')
}
