import type { ForwardedCommand } from '../../../../src/contract/session/session-command.ts'
import { asked, now } from '../../sql-pool.ts'
import type { ProcessPlace } from '../session-leases.ts'

/** A request from another process. */
export interface ReceivedCall {
  callId: string
  sender: string
  /** A `ForwardedCommand` as JSON, of any version. */
  text: string
}

/** A response head, or `moved` if another process owns the session now and the command was not executed. */
export type AnswerHead = { status: number; headers: [string, string][] } | 'moved'

/** A response part. The last part contains the ending. */
export interface AnswerPart {
  head?: AnswerHead
  bytes: Uint8Array
  ending?: 'whole' | 'broken'
}

/**
 * A received part. It may be a duplicate, because the sender's acknowledgement can be lost. A part that was read can also be lost.
 */
export interface ReceivedPart {
  callId: string
  /** Its index in the response, from 0. */
  at: number
  part: AnswerPart
}

/**
 * The outcome of sending a part: `full` if too many parts are unread, `gone` if the caller has disconnected. In both cases the part was not
 * added.
 */
export type Sending = 'sent' | 'full' | 'gone'

/** Maximum bytes per part. */
export const maxPartBytes = 64 * 1024
/** Maximum unread parts per response, 1 MiB in total. */
const maxWaitingParts = 16

/** Exchanges requests and parts with other processes, through unlogged tables. Wakes the receiver if it uses `LISTEN`. */
export class Mailbox {
  readonly #place: ProcessPlace

  constructor(place: ProcessPlace) {
    this.#place = place
  }

  async send(callId: string, receiver: string, command: ForwardedCommand): Promise<void> {
    await this.#rows(
      `WITH sent AS (INSERT INTO ${this.#calls} (tenant, sender, call_id, receiver, request) VALUES ($1, $2, $3, $4, $5))
       SELECT pg_notify($6, 'call')`,
      [callId, receiver, JSON.stringify(command), channelOf(receiver)],
    )
  }

  /** Returns new requests. */
  async received(): Promise<ReceivedCall[]> {
    return (await this.#rows(`${this.#taking} AND NOT is_taken ${asCalls}`)).map(callIn)
  }

  /** Returns requests that were read for this process but never arrived. A request with an unread part already has a response. */
  async missed(isKnown: (callId: string) => boolean): Promise<ReceivedCall[]> {
    const taken = await this.#rows(
      `SELECT call_id FROM ${this.#calls} c WHERE c.tenant = $1 AND c.receiver = $2 AND c.is_taken
       AND NOT EXISTS (SELECT 1 FROM ${this.#answers} a WHERE a.tenant = $1 AND a.call_id = c.call_id)`,
    )
    const missed = taken.map(({ call_id }) => String(call_id)).filter((callId) => !isKnown(callId))
    if (missed.length === 0) return []
    return (await this.#rows(`${this.#taking} AND call_id = ANY($3::text[]) ${asCalls}`, [missed])).map(callIn)
  }

  /** Adds a part to a response, once. */
  async answer({ callId, sender }: ReceivedCall, at: number, { head, bytes, ending }: AnswerPart): Promise<Sending> {
    const waiting = `FROM ${this.#answers} a WHERE a.tenant = $1 AND a.call_id = $2`
    const [row] = await this.#rowsOf(
      `WITH open AS (SELECT 1 FROM ${this.#calls} WHERE tenant = $1 AND call_id = $2 FOR KEY SHARE),
       sent AS (
         INSERT INTO ${this.#answers} SELECT $1, $2, $3, $4, $5::bytea, $6 FROM open WHERE (SELECT count(*) ${waiting}) < ${maxWaitingParts}
         ON CONFLICT DO NOTHING RETURNING pg_notify($7, 'part')
       ) SELECT (SELECT count(*) FROM open) AS open, (SELECT count(*) FROM sent) + (SELECT count(*) ${waiting} AND a.part = $3) AS sent`,
      [callId, at, head === undefined ? null : JSON.stringify(head), bytes, ending ?? null, channelOf(sender)],
    )
    if (Number(row?.sent) === 1) return 'sent'
    return Number(row?.open) === 1 ? 'full' : 'gone'
  }

  /** Reads new parts of these calls, in order. A call whose last part is among them is deleted. */
  async parts(callIds: readonly string[]): Promise<ReceivedPart[]> {
    const rows = await this.#rowsOf(
      `WITH came AS (DELETE FROM ${this.#answers} WHERE tenant = $1 AND call_id = ANY($2::text[]) RETURNING call_id, part, head, bytes, ending),
       over AS (DELETE FROM ${this.#calls} c USING came WHERE c.tenant = $1 AND c.call_id = came.call_id AND came.ending IS NOT NULL)
       SELECT * FROM came ORDER BY call_id, part`,
      [callIds],
    )
    return rows.map((row) => ({ callId: String(row.call_id), at: Number(row.part), part: partIn(row) }))
  }

  /** Withdraws a call. Its owner notices when it sends the next part. */
  async withdraw(callId: string): Promise<void> {
    await this.#rowsOf(`DELETE FROM ${this.#calls} WHERE tenant = $1 AND call_id = $2`, [callId])
  }

  /** Withdraws a call unless it was taken. Resolves with whether it was not taken. If so, no process runs it. */
  async withdrawUntaken(callId: string): Promise<boolean> {
    const rows = await this.#rowsOf(`DELETE FROM ${this.#calls} WHERE tenant = $1 AND call_id = $2 AND NOT is_taken RETURNING call_id`, [
      callId,
    ])
    return rows.length > 0
  }

  /** Returns those of these calls that will never get a response, because their process crashed or the database lost them. */
  async lost(callIds: readonly string[]): Promise<{ callId: string; wasTaken: boolean }[]> {
    const rows = await this.#rowsOf(
      `SELECT each.call_id, coalesce(c.is_taken, true) AS was_taken FROM unnest($2::text[]) AS each (call_id)
       LEFT JOIN ${this.#calls} c ON c.tenant = $1 AND c.call_id = each.call_id
       WHERE c.call_id IS NULL OR NOT ${this.#lives('c.receiver')}`,
      [callIds],
    )
    return rows.map(({ call_id, was_taken }) => ({ callId: String(call_id), wasTaken: was_taken === true }))
  }

  /** Deletes calls from crashed processes. */
  async sweep(): Promise<void> {
    await this.#rowsOf(`DELETE FROM ${this.#calls} c WHERE c.tenant = $1 AND NOT ${this.#lives('c.sender')}`, [])
  }

  /** Returns this process's stored calls. */
  async sent(): Promise<string[]> {
    const rows = await this.#rows(`SELECT call_id FROM ${this.#calls} WHERE tenant = $1 AND sender = $2`)
    return rows.map(({ call_id }) => String(call_id))
  }

  #lives(processId: string): string {
    const { schema } = this.#place
    return `EXISTS (SELECT 1 FROM ${schema}.processes p WHERE p.tenant = $1 AND p.process_id = ${processId} AND p.until > ${now})`
  }

  /** The start of a statement that takes this process's calls. */
  get #taking(): string {
    return `UPDATE ${this.#calls} SET is_taken = true WHERE tenant = $1 AND receiver = $2`
  }

  get #calls(): string {
    return `${this.#place.schema}.calls`
  }

  get #answers(): string {
    return `${this.#place.schema}.answers`
  }

  async #rows(text: string, more: unknown[] = []): Promise<Record<string, unknown>[]> {
    return this.#rowsOf(text, [this.#place.processId, ...more])
  }

  async #rowsOf(text: string, more: unknown[]): Promise<Record<string, unknown>[]> {
    const { pool, tenant } = this.#place
    return asked('A request for another process', async () => (await pool.query(text, [tenant, ...more])).rows)
  }
}

/** Returns the channel that wakes a process. */
export function channelOf(processId: string): string {
  return `phi_${processId}`
}

const asCalls = 'RETURNING call_id, sender, request'

function callIn({ call_id, sender, request }: Record<string, unknown>): ReceivedCall {
  return { callId: String(call_id), sender: String(sender), text: String(request) }
}

/** Parses a part. Any database user may have written it, so an invalid part counts as broken. */
function partIn({ head, bytes, ending }: Record<string, unknown>): AnswerPart {
  const read = typeof head === 'string' ? headIn(head) : undefined
  if (read === 'none') return { bytes: new Uint8Array(), ending: 'broken' }
  return {
    bytes: bytes instanceof Uint8Array ? new Uint8Array(bytes) : new Uint8Array(),
    ...(read !== undefined && { head: read }),
    ...((ending === 'whole' || ending === 'broken') && { ending }),
  }
}

function headIn(text: string): AnswerHead | 'none' {
  try {
    const head: AnswerHead | null = JSON.parse(text)
    // Validate the head: the constructor throws for an invalid one.
    if (head !== null && head !== 'moved') new Response(null, head)
    return head ?? 'none'
  } catch {
    return 'none'
  }
}
