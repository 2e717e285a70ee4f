import { isBytesOf } from '../../base/hash.ts'
import { isHash } from '../../contract/message/media.ts'
import type { LogClaim, LogDriver } from '../../types/session/session-store.ts'
import type { UnplacedRecord } from '../log/record-codec.ts'
import { type EncodedRecord, encodeDetached } from './detached.ts'
import { hashed } from './named.ts'

/** Which bytes a writer finds. */
export interface MediaFound {
  /** What the records that it read name. */
  hashes?: Iterable<string> | undefined
  /** Other sessions that may have what its own has not. */
  mediaFrom?: readonly string[] | undefined
  /** Whether everything else is of writers that ended before their record was stored. */
  collects?: boolean
}

/** Keeps the bytes of one writer's records beside the log. */
export class MediaKeeper {
  readonly #driver: LogDriver
  readonly #claim: LogClaim
  readonly #others: readonly string[]
  /** What need not be written: records that count name it already, or this writer has put it. */
  readonly #known: Set<string>

  #collects: boolean

  constructor(driver: LogDriver, claim: LogClaim, { hashes = [], mediaFrom = [], collects = false }: MediaFound = {}) {
    this.#collects = collects
    this.#driver = driver
    this.#claim = claim
    this.#others = mediaFrom
    this.#known = new Set(hashes)
  }

  /** A record as text; with the bytes in it, where nothing keeps them beside the log. */
  encode(record: UnplacedRecord): EncodedRecord {
    return encodeDetached(record, this.#driver.blobs === undefined)
  }

  /** From now on all bytes are written again, by this writer. */
  forget(): void {
    this.#collects = false
    this.#known.clear()
  }

  /**
   * Removes what no record names, once. Only after a first record of this writer was acknowledged: before, a newer writer may still go on from a line
   * that an older one has added since this one read. Never rejects: room that is not given back now is given back by the next writer.
   */
  async collect(): Promise<void> {
    if (!this.#collects) return
    this.#collects = false
    await this.#driver.blobs?.keep(this.#claim, this.#known).catch(() => undefined)
  }

  /** Makes the bytes of a record durable, and names them in it. Rejects with what the driver says. */
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

  /** What is nowhere any more stays a name: whoever asks for it is told. */
  async #carry(hash: string): Promise<void> {
    if (this.#known.has(hash) || !isHash(hash)) return
    for (const sessionId of [this.#claim.sessionId, ...this.#others]) {
      const bytes = await this.#driver.blobs?.get(sessionId, hash)
      if (bytes !== undefined && (await isBytesOf(hash, bytes))) return this.#put(hash, bytes)
    }
  }
}
