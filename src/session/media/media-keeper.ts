import { isBytesOf } from '../../base/hash.ts'
import { isHash } from '../../contract/message/media.ts'
import type { LogClaim, LogDriver } from '../../types/session/session-store.ts'
import type { UnplacedRecord } from '../log/record-codec.ts'
import { type EncodedRecord, encodeDetached } from './detached.ts'
import { hashed } from './named.ts'

/** A session's existing blobs. */
export interface MediaFound {
  /** Hashes that the loaded records reference. */
  hashes?: Iterable<string> | undefined
  /** Other sessions that may contain a missing blob. */
  mediaFrom?: readonly string[] | undefined
  /** Whether all other blobs belong to writers that ended before their record was stored. */
  collects?: boolean
}

/** Stores the blobs that one writer's records reference. */
export class MediaKeeper {
  readonly #driver: LogDriver
  readonly #claim: LogClaim
  readonly #others: readonly string[]
  /** Hashes of stored blobs: valid records refer to them, or this writer stored them. */
  readonly #known: Set<string>

  #collects: boolean

  constructor(driver: LogDriver, claim: LogClaim, { hashes = [], mediaFrom = [], collects = false }: MediaFound = {}) {
    this.#collects = collects
    this.#driver = driver
    this.#claim = claim
    this.#others = mediaFrom
    this.#known = new Set(hashes)
  }

  /** Encodes a record. Includes the bytes if the driver stores no blobs. */
  encode(record: UnplacedRecord): EncodedRecord {
    return encodeDetached(record, this.#driver.blobs === undefined)
  }

  /** Makes this writer store all blobs again. */
  forget(): void {
    this.#collects = false
    this.#known.clear()
  }

  /**
   * Deletes unreferenced blobs, once. Call it only after the store has acknowledged one of this writer's records, because before that a
   * newer writer may continue from an older writer's line. Never rejects. After a failure, the next writer retries.
   */
  async collect(): Promise<void> {
    if (!this.#collects) return
    this.#collects = false
    await this.#driver.blobs?.keep(this.#claim, this.#known).catch(() => undefined)
  }

  /** Stores the blobs of a record and inserts their hashes. Rejects with the driver's error. */
  async keep(record: EncodedRecord): Promise<void> {
    for (const hash of record.hashes) await this.#carry(hash)
    for (let next = record.fresh.shift(); next !== undefined; next = record.fresh.shift()) {
      const { hash, bytes } = await hashed(next.block)
      await this.#put(hash, bytes)
      record.text = record.text.replaceAll(next.mark, hash)
      record.hashes.push(hash)
    }
  }

  async #put(hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.#known.has(hash)) return
    await this.#driver.blobs?.put(this.#claim, hash, bytes)
    this.#known.add(hash)
  }

  /** A blob that no session contains remains a reference, and reading it fails. */
  async #carry(hash: string): Promise<void> {
    if (this.#known.has(hash) || !isHash(hash)) return
    for (const sessionId of [this.#claim.sessionId, ...this.#others]) {
      const bytes = await this.#driver.blobs?.get(sessionId, hash)
      if (bytes !== undefined && (await isBytesOf(hash, bytes))) return this.#put(hash, bytes)
    }
  }
}
