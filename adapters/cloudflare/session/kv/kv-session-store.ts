import { checkOptions } from '../../../../src/contract/shape/read.ts'
import { kind, options as optionsOf, withMethods } from '../../../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../../../src/index.ts'
import { pageOf } from '../../../../src/internal.ts'
import {
  type BlobDriver,
  type LogClaim,
  type LogDriver,
  type LogLine,
  type LogQuery,
  logSessionStore,
  type SessionDigest,
  SessionError,
  type SessionSummary,
  type StorePromises,
} from '../../../../src/session.ts'
import { risingClock } from '../workers-platform.ts'
import { KvBlobs } from './kv-blobs.ts'
import { summaryKeyName, summaryPrefix } from './kv-key.ts'
import { logKeys, readLines, writeLines } from './kv-log.ts'
import { type KvNamespace, kvOutcome, listKeys } from './kv-namespace.ts'
import { bytesOf, maxAgentIdBytes, summaryFrom, summaryMetadata } from './kv-summary.ts'

/** Options for `kvSessionStore`: the size limit for a value. */
export interface KvSessionStoreOptions {
  /** Maximum value size in bytes. Longer records are split. Default: 25 MiB, which is KV's limit. */
  maxValueBytes?: number
}

const storeOptions = optionsOf<KvSessionStoreOptions>({
  maxValueBytes: kind('a number of bytes from 6', (value) => typeof value === 'number' && value >= 6),
})
const promises: StorePromises = { conflict: 'forked', readAfterWrite: 'eventual', list: 'eventual', survives: 'powerCut' }
const defaultMaxValueBytes = 25 * 1024 * 1024
/** KV allows one write per second and key, and bills each write. */
const summaryIntervalMs = 10_000

/** Driver data for a claim. */
interface Writing {
  agentId: string
  writer: string
  /** First `seq` of this writer. */
  from?: number
  /** Summary for lists, or `undefined` before the first record. */
  summary: SessionSummary | undefined
  /** Last stored `lastActiveAt`. */
  storedAt: number
}

/**
 * Creates a session store in Workers KV, for sessions with one writer that others read later. For live sessions use
 * `durableObjectSessionStore`.
 *
 * **Contract**
 * - An acknowledged record is durable, but readers and lists in other locations may see it a minute later or more. Do not open a second
 *   writer before all records are visible. If a visible record follows invisible ones, `open` rejects with `io`, and readers see only the
 *   records before the gap.
 * - Does not detect two concurrent writers. Their records have separate keys, so both are stored, and readers report a fork.
 * - While a session is written, lists are up to 10 s old. Titles are truncated to the limit of key metadata.
 * - `agentId` must have at most 900 bytes as JSON. Otherwise, `open` rejects with `invalidSession`. Throws `ConfigError` `invalidOption`
 *   for `maxValueBytes` below 6.
 * - A record costs one write, or more if it exceeds a value. A session costs one summary. `load` costs one read per 100 writes.
 *
 * Source: docs/concepts/sessions.md
 */
export function kvSessionStore(namespace: KvNamespace, options: KvSessionStoreOptions = {}): SessionStore {
  checkOptions(namespace, withMethods('a KV namespace', 'get', 'put', 'delete', 'list'), 'namespace')
  checkOptions(options, storeOptions)
  const { maxValueBytes = defaultMaxValueBytes } = options
  return logSessionStore(new KvDriver(namespace, maxValueBytes))
}

class KvDriver implements LogDriver {
  readonly promises = promises
  readonly #namespace: KvNamespace
  readonly #maxValueBytes: number
  readonly #writings = new WeakMap<LogClaim, Writing>()
  readonly #bytes: KvBlobs
  readonly blobs: BlobDriver
  readonly #now = risingClock()

  constructor(namespace: KvNamespace, maxValueBytes: number) {
    this.#namespace = namespace
    this.#maxValueBytes = maxValueBytes
    this.#bytes = new KvBlobs(namespace, maxValueBytes)
    this.blobs = this.#bytes.driver((claim) => this.#writingOf(claim).writer)
  }

  async claim(sessionId: string, agentId: string, onProgress?: () => void): Promise<LogClaim> {
    const bytes = bytesOf(agentId)
    if (bytes > maxAgentIdBytes) throw agentIdTooLong(bytes)
    const keys = await kvOutcome('list', logKeys(this.#namespace, sessionId, onProgress))
    const { lines, isLate } = await kvOutcome('get', readLines(this.#namespace, keys, 0, onProgress))
    if (isLate) throw notVisible(sessionId)
    const claim: LogClaim = { sessionId, epoch: (keys.at(-1)?.epoch ?? 0) + 1, lines }
    const writer = crypto.randomUUID().slice(0, 8)
    const summary = keys.length === 0 ? undefined : await this.#summaryOf(sessionId)
    this.#writings.set(claim, { agentId, writer, summary, storedAt: 0 })
    return claim
  }

  async append(claim: LogClaim, lines: readonly LogLine[], digest: SessionDigest = { loops: 0, messages: 0 }): Promise<void> {
    const { sessionId, epoch } = claim
    const writing = this.#writingOf(claim)
    writing.from ??= lines[0]?.seq ?? 1
    const place = { sessionId, epoch, writer: writing.writer, from: writing.from }
    await kvOutcome('put', writeLines(this.#namespace, place, lines, this.#maxValueBytes))
    const lastActiveAt = this.#now()
    const mustBeListed = writing.summary?.agentId !== writing.agentId
    const isRenamed = writing.summary?.title !== digest.title
    const createdAt = writing.summary?.createdAt || lastActiveAt
    writing.summary = { ...digest, sessionId, agentId: writing.agentId, createdAt, lastActiveAt }
    if (mustBeListed) await kvOutcome('put', this.#putSummary(writing, writing.summary))
    else if (isRenamed || lastActiveAt - writing.storedAt >= summaryIntervalMs) await this.#updateSummary(writing)
  }

  async discardOlder(claim: LogClaim): Promise<void> {
    const keys = await kvOutcome('list', logKeys(this.#namespace, claim.sessionId))
    for (const { name, epoch } of keys) if (epoch < claim.epoch) await kvOutcome('delete', this.#namespace.delete(name))
    await this.#bytes.remove(claim.sessionId, claim.epoch)
  }

  async release(claim: LogClaim): Promise<void> {
    const writing = this.#writings.get(claim)
    if (writing?.summary !== undefined && writing.summary.lastActiveAt > writing.storedAt) await this.#updateSummary(writing)
  }

  async read(sessionId: string, after: number, onProgress?: () => void): Promise<readonly string[] | undefined> {
    const keys = await kvOutcome('list', logKeys(this.#namespace, sessionId, onProgress))
    if (keys.length === 0) return undefined
    const { lines, isLate } = await kvOutcome('get', readLines(this.#namespace, keys, after, onProgress))
    if (isLate && lines.length === 0 && after === 0) throw notVisible(sessionId)
    return lines
  }

  async list(query: LogQuery = {}): Promise<SessionSummary[]> {
    const keys = await kvOutcome('list', listKeys(this.#namespace, summaryPrefix))
    const summaries = keys.map(({ name, metadata }) => summaryFrom(name, metadata))
    return pageOf(summaries, query)
  }

  async delete(sessionId: string): Promise<boolean> {
    const keys = await kvOutcome('list', logKeys(this.#namespace, sessionId))
    const summary = await kvOutcome('list', this.#summaryOf(sessionId))
    for (const { name } of keys) await kvOutcome('delete', this.#namespace.delete(name))
    await this.#bytes.remove(sessionId)
    // Deleted last, so that the session is still listed after a failed deletion and can be deleted again.
    if (summary !== undefined) await kvOutcome('delete', this.#namespace.delete(summaryKeyName(sessionId)))
    return keys.length > 0 || summary !== undefined
  }

  #writingOf(claim: LogClaim): Writing {
    const writing = this.#writings.get(claim)
    if (writing === undefined)
      throw new SessionError('conflict', `The claim on session ${claim.sessionId} is from another store. Open the session in this store.`)
    return writing
  }

  async #summaryOf(sessionId: string): Promise<SessionSummary | undefined> {
    // Use `list`, because KV caches for a minute that a key does not exist.
    const [key] = await listKeys(this.#namespace, summaryKeyName(sessionId))
    return key && summaryFrom(key.name, key.metadata)
  }

  async #putSummary(writing: Writing, summary: SessionSummary): Promise<void> {
    await this.#namespace.put(summaryKeyName(summary.sessionId), '', { metadata: summaryMetadata(summary) })
    writing.storedAt = summary.lastActiveAt
  }

  /** Never rejects, because the records are stored and the next summary catches up. */
  async #updateSummary(writing: Writing): Promise<void> {
    if (writing.summary !== undefined) await this.#putSummary(writing, writing.summary).catch(() => undefined)
  }
}

function agentIdTooLong(bytes: number): SessionError {
  return new SessionError(
    'invalidSession',
    `The agent id has ${bytes} bytes as JSON, but Workers KV allows at most ${maxAgentIdBytes}. Use a shorter id.`,
  )
}

function notVisible(sessionId: string): SessionError {
  return new SessionError('io', `Records of session ${sessionId} are not visible in this location yet. Open it again in a minute.`, {
    hint: 'If that does not help, its deletion was interrupted. Delete it again.',
  })
}
