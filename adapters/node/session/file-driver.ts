import { join, resolve } from 'node:path'
import type { LogClaim, LogDriver, SessionDigest } from '../../../src/session.ts'
import { deleteFiles } from './delete-session.ts'
import { type FileOperations, nodeFileOperations, reported, sessionFailure, syncPathTo, takenOver } from './file-operations.ts'
import { folderOf } from './folder-name.ts'
import { type IndexLimits, indexLimits, ListIndex } from './list/list-index.ts'
import { type KnownDigests, listSessions, type Scan } from './list/list-sessions.ts'
import { SummaryFiles, summaryIntervalChars } from './list/session-summary.ts'
import { getBlob, keepBlobs, putBlob } from './log/blob-files.ts'
import { claimLog } from './log/claim.ts'
import { allLinesIn, bytesIn, countingFiles, isAbsent, listEpochs, newestEpoch, sizesOf, withEpochs } from './log/epoch-files.ts'
import { claimedLines, lastSeqOf, streamedLines } from './log/read-files.ts'
import { appendToSegments, isStored, type LogLimits, logLimits, type SegmentedLog } from './log/segments.ts'
import { removeFiles, snapshotStart, takeSnapshot } from './log/snapshot.ts'

/** An open log. */
interface Writing extends SegmentedLog {
  /** First epoch of the snapshot to write after the first record. */
  snapshotStart?: number | undefined
  /** Summary for lists. Absent without records. */
  digest?: SessionDigest
  /** Title in the stored summary. */
  summaryTitle?: string | undefined
  /** Bytes written since the last summary, or the bytes found if the summary may belong to another file. */
  unsummarizedChars: number
  /** List generation that contains the session's mark; see `ListIndex`. */
  generation: number
}

/** Maximum sessions whose order is tracked. Only writes within one tick of the file system's clock need it. */
const rememberedOrder = 1000

/** Closes the logs of writers that were garbage-collected without a close. */
const abandoned = new FinalizationRegistry((close: () => Promise<void>) => void close().catch(() => {}))

/**
 * Stores each session as files in a separate folder below `directory`. See `fileSessionStore` for the format and guarantees. Tests can
 * replace `operations` and `limits`.
 */
export function fileDriver(
  directory: string,
  operations: FileOperations = nodeFileOperations(),
  limits: LogLimits & Partial<IndexLimits> = logLimits,
): LogDriver {
  const root = resolve(directory)
  const folder = (sessionId: string) => join(root, folderOf(sessionId))
  const writing = new WeakMap<LogClaim, Writing>()
  /** Whether the path to `root` is durable. */
  let isRooted = false
  /** Sessions ordered by their last record. */
  const written = new Set<string>()
  const known: KnownDigests = new Map()
  const summaries = new SummaryFiles(operations, root)
  const index = new ListIndex(operations, root, { ...indexLimits, ...limits })
  const scan: Scan = {}

  async function stop(claim: LogClaim): Promise<void> {
    const log = writing.get(claim)
    writing.delete(claim)
    abandoned.unregister(claim)
    if (log !== undefined) await operations.close?.(log.path)
  }

  async function writeSummary(sessionId: string, log: Writing): Promise<void> {
    if (log.digest === undefined) return
    log.summaryTitle = log.digest.title
    log.unsummarizedChars = 0
    await summaries.write(sessionId, log, log.digest)
  }

  function remember(sessionId: string): void {
    written.delete(sessionId)
    written.add(sessionId)
    if (written.size <= rememberedOrder) return
    for (const oldest of written) return void written.delete(oldest)
  }

  return {
    promises: { conflict: 'refused', readAfterWrite: 'immediate', list: 'immediate', survives: 'powerCut' },
    claim: (sessionId) =>
      reported(`open session ${sessionId}`, async () => {
        const marking = index.mark(folderOf(sessionId))
        // Awaited below, where resources are released.
        marking.catch(() => {})
        const { log, files, read } = await claimLog(operations, folder(sessionId), (found, held) =>
          claimedLines({ operations, sessionId, folder: held.folder, limits }, found, held),
        )
        const claim: LogClaim = { sessionId, epoch: log.epoch, ...read }
        const held: Writing = {
          ...log,
          bytes: 0,
          snapshotStart: snapshotStart(files, limits),
          unsummarizedChars: bytesIn(files),
          generation: 0,
        }
        abandoned.register(claim, async () => operations.close?.(held.path), claim)
        writing.set(claim, held)
        try {
          held.generation = await marking
          if (!isRooted) await syncPathTo(operations, root)
          // For a session whose folder was removed manually.
          if (files.length === 0) await summaries.remove(sessionId).catch(() => {})
          isRooted = true
          return claim
        } catch (error) {
          await stop(claim)
          throw error
        }
      }),
    async append(claim, lines, digest) {
      const log = writing.get(claim)
      if (log === undefined) throw takenOver(claim.sessionId, claim.epoch)
      try {
        const texts = lines.map(({ text }) => text)
        for (const text of texts) log.unsummarizedChars += text.length
        const { segment } = log
        if (!(await appendToSegments(operations, log, texts, limits))) throw takenOver(claim.sessionId, claim.epoch)
        const [isStillNewest, generation] = await Promise.all([
          isNewest(operations, log),
          index.mark(folderOf(claim.sessionId), log.generation),
        ])
        if (!isStillNewest) throw takenOver(claim.sessionId, claim.epoch)
        log.generation = generation
        // The summary belongs to a file that is no longer the last one.
        if (log.segment !== segment) log.unsummarizedChars = Number.POSITIVE_INFINITY
      } catch (error) {
        await stop(claim)
        // Only a newer epoch or a deletion of the session removes a log.
        if (isAbsent(error)) throw takenOver(claim.sessionId, claim.epoch)
        throw sessionFailure(error, `write to session ${claim.sessionId}`)
      }
      remember(claim.sessionId)
      if (digest !== undefined) log.digest = digest
      if (digest?.title !== log.summaryTitle || log.unsummarizedChars > summaryIntervalChars) await writeSummary(claim.sessionId, log)
      const { snapshotStart: start } = log
      if (start === undefined) return
      log.snapshotStart = undefined
      // Ignore the failure, because the logs still exist and the next writer retries.
      await takeSnapshot(operations, log, start).catch(() => {})
    },
    async discardOlder(claim) {
      const log = writing.get(claim)
      if (log === undefined) return
      log.snapshotStart = undefined
      await reported(`remove what session ${claim.sessionId} replaces`, async () => {
        const files = (await listEpochs(operations, log.folder)) ?? []
        await removeFiles(
          operations,
          log.folder,
          files.filter((file) => file.epoch < log.epoch),
        )
      })
    },
    release: (claim) =>
      reported(`close session ${claim.sessionId}`, async () => {
        const log = writing.get(claim)
        if (log !== undefined && log.unsummarizedChars > 0) await writeSummary(claim.sessionId, log)
        await stop(claim)
      }),
    read: (sessionId) =>
      reported(`read session ${sessionId}`, () =>
        withEpochs(operations, folder(sessionId), async (files) => {
          const found = await sizesOf(operations, folder(sessionId), countingFiles(files))
          const lines = await allLinesIn(operations, folder(sessionId), found)
          return lines.length === 0 ? undefined : lines
        }),
      ),
    stream: (sessionId, after) =>
      reported(`read session ${sessionId}`, () => streamedLines({ operations, sessionId, folder: folder(sessionId), limits, after })),
    lastSeq: (sessionId) => reported(`read session ${sessionId}`, () => lastSeqOf({ operations, folder: folder(sessionId) })),
    list: (query = {}) =>
      reported('list the sessions', () => listSessions({ operations, root, written: [...written], known, summaries, index, scan }, query)),
    delete: (sessionId) =>
      reported(`delete session ${sessionId}`, async () => {
        const existed = await deleteFiles(operations, folder(sessionId))
        await summaries.remove(sessionId)
        await index.forget(folderOf(sessionId))
        return existed
      }),
    blobs: {
      async put(claim, hash, bytes) {
        const log = writing.get(claim)
        if (log === undefined) throw takenOver(claim.sessionId, claim.epoch)
        try {
          await putBlob(operations, log, hash, bytes)
        } catch (error) {
          if (isAbsent(error)) throw takenOver(claim.sessionId, claim.epoch)
          throw sessionFailure(error, `write to session ${claim.sessionId}`)
        }
      },
      get: (sessionId, hash) => reported(`read session ${sessionId}`, () => getBlob(operations, folder(sessionId), hash)),
      async keep(claim, hashes) {
        const log = writing.get(claim)
        if (log !== undefined) await reported(`tidy session ${claim.sessionId}`, () => keepBlobs(operations, log, hashes))
      },
    },
  }
}

/**
 * Returns whether no other writer has started and the session was not deleted. Checked after the write, because a later writer finds the
 * written data.
 */
async function isNewest(operations: FileOperations, log: SegmentedLog): Promise<boolean> {
  const { folder, segment, deletedUpTo } = log
  const files = await listEpochs(operations, folder)
  if (files === undefined || newestEpoch(files, 'deleted') > deletedUpTo) return false
  return newestEpoch(files) === segment && (await isStored(operations, log))
}
