import { errorText, SessionError } from '../../contract/errors.ts'
import { newId } from '../../contract/message/identity.ts'
import type { LogDamage, SessionRecord } from '../../contract/session/session-record.ts'
import type {
  CopiedSessionRecord,
  LogClaim,
  LogDriver,
  LogLine,
  NewSessionRecord,
  SessionDigest,
  SessionWriter,
} from '../../types/session/session-store.ts'
import { type EncodedRecord, hasMedia } from '../media/detached.ts'
import { MediaKeeper } from '../media/media-keeper.ts'
import { advanceDigest, digestOf } from './digest.ts'
import { LogReader, type LogReading } from './read-log.ts'
import { readStored } from './read-stored.ts'
import { encodeLine, encodeRecord, type LinePlace, lineStart } from './record-codec.ts'

/** A numbered line whose blobs are not stored yet. */
interface PlacedRecord {
  seq: number
  whole?: number | undefined
  encoded: EncodedRecord
}

/** Records waiting to be written. */
interface Waiting {
  placed: readonly PlacedRecord[]
  /** Digest after these records are stored. */
  digest: SessionDigest
  resolve: () => void
  reject: (error: SessionError) => void
}

/**
 * Appends records to one session's log through a driver.
 *
 * **Contract**
 * - Copies records as text when `append` is called, and numbers them in call order.
 * - Writes one batch at a time. Records appended meanwhile form the next batch.
 * - The first failure is final: all pending and later appends reject.
 * - Blobs are durable before a record that refers to them is written.
 */
export class LogSessionWriter implements SessionWriter {
  readonly sessionId: string
  readonly epoch: number
  readonly records: readonly SessionRecord[]
  declare readonly damage?: LogDamage
  readonly #driver: LogDriver
  readonly #claim: LogClaim
  readonly #place: Omit<LinePlace, 'seq'>
  readonly #media: MediaKeeper
  /** Line starts by kind. */
  readonly #starts = new Map<string, string>()
  #next: number
  #digest: SessionDigest
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  #refusal: SessionError | undefined
  #closing: Promise<void> | undefined

  constructor(driver: LogDriver, claim: LogClaim, reading: LogReading, media = new MediaKeeper(driver, claim)) {
    const { records, passed, damage, cursor, writer } = reading
    this.#driver = driver
    this.#claim = claim
    this.sessionId = claim.sessionId
    this.epoch = claim.epoch
    this.records = records
    if (damage !== undefined) this.damage = damage
    this.#place = { epoch: claim.epoch, writer: newId().slice(0, 8), from: cursor + 1, ...(writer !== undefined && { base: writer }) }
    this.#media = media
    this.#next = this.#place.from
    this.#digest = digestOf(records, passed)
  }

  async append(records: readonly (NewSessionRecord | CopiedSessionRecord)[]): Promise<void> {
    if (this.#refusal !== undefined) throw this.#refusal
    return this.#enqueue(this.#encode(records))
  }

  async replace(records: readonly CopiedSessionRecord[]): Promise<void> {
    await this.replaceEncoded(
      records.map((record) => this.#media.encode(record)),
      digestOf(records),
    )
  }

  /** Replaces the log with the output of `encodeDetached`. */
  async replaceEncoded(encoded: readonly EncodedRecord[], digest: SessionDigest): Promise<void> {
    if (this.#refusal !== undefined) throw this.#refusal
    this.#digest = digest
    const from = this.#next
    // Delete older writers' blobs together with their records.
    this.#media.forget()
    await this.#enqueue(this.#number(encoded, from + encoded.length - 1))
    if (!(await this.#isStored(encoded, from))) return
    // Ignore errors, because the session is stored. If this deletion fails, the next replacement frees the space.
    await this.#driver.discardOlder?.(this.#claim).catch(() => undefined)
  }

  /** Returns whether the replacement reads back unchanged. `false` if an `eventual` store does not return it yet. */
  async #isStored(encoded: readonly EncodedRecord[], from: number): Promise<boolean> {
    const subject = `Session ${this.sessionId}`
    const reader = new LogReader(0)
    await readStored(this.#driver, this.sessionId, 0, (line) => reader.add(line)).catch((error: unknown) => {
      throw sessionErrorOf(error, subject)
    })
    const { records } = reader.end()
    const isSame =
      records.length === encoded.length && records[0]?.seq === from && records.every((each, at) => encodeRecord(each) === encoded[at]?.text)
    if (isSame || this.#driver.promises.readAfterWrite === 'eventual') return isSame
    throw new SessionError('io', `${subject} differs from what was written when read back. The data it replaces is unchanged. Retry.`)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#refusal ??= new SessionError('io', `This writer of session ${this.sessionId} is closed. Open the session again to write.`)
    await this.#writing
    await this.#driver.release(this.#claim)
  }

  #encode(records: readonly (NewSessionRecord | CopiedSessionRecord)[]): PlacedRecord[] {
    try {
      const placed = this.#number(records.map((record) => this.#media.encode(record)))
      this.#digest = records.reduce(advanceDigest, this.#digest)
      return placed
    } catch (error) {
      // Reject all later records, because records after a missing record would be inconsistent.
      this.#refusal = sessionErrorOf(error, `Session ${this.sessionId}`)
      throw this.#refusal
    }
  }

  #number(encoded: readonly EncodedRecord[], whole?: number): PlacedRecord[] {
    return encoded.map((each) => ({ seq: this.#next++, whole, encoded: each }))
  }

  #enqueue(placed: readonly PlacedRecord[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ placed, digest: this.#digest, resolve, reject })
      this.#writing ??= this.#write()
    })
  }

  /** Writes until no records are pending. Never rejects. */
  async #write(): Promise<void> {
    // Batches all records appended in the current task.
    await undefined
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      const failure = await this.#writeBatch(batch)
      if (failure !== undefined) {
        this.#fail(failure, batch)
        continue
      }
      for (const each of batch) each.resolve()
      await this.#media.collect()
    }
    this.#writing = undefined
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<SessionError | undefined> {
    const placed = batch.flatMap((each) => each.placed)
    if (placed.length === 0) return undefined
    try {
      for (const { encoded } of placed) if (hasMedia(encoded)) await this.#media.keep(encoded)
      const lines = placed.map((each) => this.#lineOf(each))
      await this.#driver.append(this.#claim, lines, batch.at(-1)?.digest)
      return undefined
    } catch (error) {
      return sessionErrorOf(error, `Session ${this.sessionId}`)
    }
  }

  #lineOf({ seq, whole, encoded }: PlacedRecord): LogLine {
    const place = { ...this.#place, ...(whole !== undefined && { whole }) }
    const key = `${whole} ${hasMedia(encoded)}`
    const start = this.#starts.get(key) ?? lineStart(place, hasMedia(encoded))
    this.#starts.set(key, start)
    return { epoch: this.epoch, seq, text: encodeLine(start, seq, encoded.text), ...(whole !== undefined && { whole }) }
  }

  #fail(failure: SessionError, batch: readonly Waiting[]): void {
    this.#refusal = failure
    const waiting = this.#waiting
    this.#waiting = []
    for (const each of [...batch, ...waiting]) each.reject(failure)
  }
}

/** Converts a driver failure to a `SessionError`. `subject` names the resource. */
export function sessionErrorOf(error: unknown, subject: string): SessionError {
  if (SessionError.isInstance(error)) return error
  return new SessionError('io', `${subject} could not be read or written: ${errorText(error)}`, { cause: error })
}
