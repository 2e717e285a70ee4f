import { bytesOfBase64, toBase64 } from '../../../../src/base/base64.ts'
import type { BlobDriver, LogClaim } from '../../../../src/session.ts'
import { padded } from './kv-key.ts'
import { type KvNamespace, kvOutcome, listKeys } from './kv-namespace.ts'

/** Prefix of a session's media. Lists of the session's log do not include it. */
const blobPrefix = (sessionId: string): string => `b/${sessionId}/`

/** A writer's media. Each writer has separate keys. */
type BlobPlace = Pick<LogClaim, 'sessionId' | 'epoch'> & { writer: string }

/** One writer's visible pieces, and the total number of pieces. */
interface Pieces {
  names: string[]
  chunks: unknown
}

const form = /\/([0-9a-f]{64})\/(\d{8})-([^/]+)\/(\d{6})$/

/**
 * Stores media in addition to logs, as base64 in pieces that fit into a value.
 *
 * Keys and values become visible in any order. Media exist once all pieces are visible.
 */
export class KvBlobs {
  readonly #namespace: KvNamespace
  readonly #maxValueBytes: number

  constructor(namespace: KvNamespace, maxValueBytes: number) {
    this.#namespace = namespace
    this.#maxValueBytes = maxValueBytes
  }

  async put({ sessionId, epoch, writer }: BlobPlace, hash: string, bytes: Uint8Array): Promise<void> {
    const text = toBase64(bytes)
    const chunks = Math.ceil(text.length / this.#maxValueBytes)
    for (let chunk = 0; chunk < chunks; chunk++) {
      const name = `${blobPrefix(sessionId)}${hash}/${padded(epoch, 8)}-${writer}/${padded(chunk, 6)}`
      const piece = text.slice(chunk * this.#maxValueBytes, (chunk + 1) * this.#maxValueBytes)
      await kvOutcome('put', this.#namespace.put(name, piece, { metadata: { chunks } }))
    }
  }

  /** Returns the media from the newest writer whose pieces are all visible. */
  async get(sessionId: string, hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    // Use `list`, because KV caches missing keys for a minute.
    const keys = await kvOutcome('list', listKeys(this.#namespace, `${blobPrefix(sessionId)}${hash}/`))
    const ofWriters = new Map<string, Pieces>()
    for (const { name, metadata } of keys) {
      const writer = name.slice(0, name.lastIndexOf('/'))
      const pieces: Pieces = ofWriters.get(writer) ?? { names: [], chunks: Object(metadata).chunks }
      pieces.names.push(name)
      ofWriters.set(writer, pieces)
    }
    for (const { names, chunks } of [...ofWriters.values()].reverse()) {
      const text = names.length === chunks ? await this.#textOf(names) : undefined
      if (text !== undefined) return bytesOfBase64(text)
    }
    return undefined
  }

  async #textOf(names: readonly string[]): Promise<string | undefined> {
    let text = ''
    for (const name of names) {
      const piece = await kvOutcome('get', this.#namespace.get(name))
      if (piece === null) return undefined
      text += piece
    }
    return text
  }

  /** Removes media from writers before `epoch`, or all media if `epoch` is absent. */
  async remove(sessionId: string, epoch = Number.POSITIVE_INFINITY, isKept: (hash: string) => boolean = () => false): Promise<void> {
    for (const { name } of await kvOutcome('list', listKeys(this.#namespace, blobPrefix(sessionId)))) {
      const [, hash = '', of] = form.exec(name) ?? []
      if (Number(of) < epoch && !isKept(hash)) await kvOutcome('delete', this.#namespace.delete(name))
    }
  }

  /** Returns a store's blob driver. It provides each claim's writer. */
  driver(writerOf: (claim: LogClaim) => string): BlobDriver {
    return {
      put: (claim, hash, bytes) => this.put({ ...claim, writer: writerOf(claim) }, hash, bytes),
      get: (sessionId, hash) => this.get(sessionId, hash),
      keep: ({ sessionId, epoch }, hashes) => this.remove(sessionId, epoch, (hash) => hashes.has(hash)),
    }
  }
}
