import { aLogger, checkStore } from '../../base/argument-checks.ts'
import { logWarning } from '../../base/log-warning.ts'
import { errorText } from '../../contract/errors.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aNumberFromZero, kind, type OptionTable, options as optionsOf, required } from '../../contract/shape/shape.ts'
import type { Logger } from '../../types/logger.ts'
import type { SessionStore, SessionSummary } from '../../types/session/session-store.ts'
import { circleGuard } from './session-list.ts'
import { exportSessionLines } from './transfer.ts'

/** Options for exports and deletions. */
export interface RetentionOptions {
  /** Stops the operation between two sessions. The operation then rejects with the signal's reason. */
  signal?: AbortSignal
  /** Logs each session at `info` as evidence (`sessionDeleted`, `sessionExported`), and failures at `warn`. */
  logger?: Logger | false
}

/** Options for `pruneSessions`. */
export interface PruneOptions extends RetentionOptions {
  /** Deletes sessions without activity since this time, in epoch milliseconds. */
  olderThan: number
}

/** What a deletion removed. */
export interface RetentionReport {
  deleted: number
  kept: number
  /** Sessions that could not be deleted, with their errors. */
  failed: { sessionId: string; message: string }[]
}

const shared: OptionTable<RetentionOptions> = {
  signal: kind('an AbortSignal', (value) => value instanceof AbortSignal),
  logger: aLogger,
}
const retentionOptions = optionsOf<RetentionOptions>(shared)
const pruneOptions = optionsOf<PruneOptions>({ ...shared, olderThan: required(aNumberFromZero) })

/**
 * Deletes the sessions of `store` without activity since `olderThan`, including pending ones.
 *
 * **Contract**
 * - Visits every session once, page by page. Keeps a session that becomes active during pruning, unless this happens while it is being
 *   deleted. Choose an age well above the longest pause in a conversation.
 * - A session that cannot be deleted is added to `failed`. Pruning continues with the others.
 * - A store with `list: 'eventual'` may not list the newest sessions yet. Pruning then keeps them.
 * - Throws `ConfigError` `invalidOption` for an invalid option, and rejects with `SessionError` if the store cannot list sessions.
 *
 * Source: docs/concepts/sessions.md
 *
 * @example
 * ```ts
 * await pruneSessions(store, { olderThan: Date.now() - 90 * 24 * 3_600_000 })
 * ```
 */
export async function pruneSessions(store: SessionStore, options: PruneOptions): Promise<RetentionReport> {
  checkStore(store, 'list', 'delete')
  checkOptions(options, pruneOptions)
  const { olderThan, ...rest } = options
  return deleteWhere(store, ({ lastActiveAt }) => lastActiveAt < olderThan, 'age', rest)
}

/**
 * Deletes all sessions in `store`. To delete one user's sessions, pass `scopedSessionStore(store, owner)`.
 *
 * **Contract**: as `pruneSessions`. Deletes sub-agent sessions too, but not backups or files that tools wrote.
 *
 * Source: docs/concepts/sessions.md
 */
export async function deleteAllSessions(store: SessionStore, options: RetentionOptions = {}): Promise<RetentionReport> {
  checkStore(store, 'list', 'delete')
  checkOptions(options, retentionOptions)
  return deleteWhere(store, () => true, 'all', options)
}

/**
 * Exports all sessions in `store` in sequence, each as the lines of `exportSessionLines`. To export one user's sessions, pass
 * `scopedSessionStore(store, owner)`.
 *
 * **Contract**: a session that cannot be read has `error` instead of lines. Read a session's lines before you request the next session.
 *
 * Source: docs/concepts/sessions.md
 */
export async function* exportAllSessions(
  store: SessionStore,
  options: RetentionOptions = {},
): AsyncGenerator<{ sessionId: string; lines: AsyncIterable<string>; error?: string }, void, undefined> {
  checkStore(store, 'list', 'tail')
  checkOptions(options, retentionOptions)
  const { signal, logger } = options
  for await (const { sessionId } of allSessions(store, signal)) {
    const lines = exportSessionLines(store, sessionId)
    try {
      const first = await lines.next()
      yield { sessionId, lines: linesFrom(first, lines) }
      logEvent(logger, 'sessionExported', { sessionId })
    } catch (cause) {
      const error = errorText(cause)
      logWarning(logger, 'sessionNotExported', { sessionId, message: error })
      yield { sessionId, lines: nothing(), error }
    }
  }
}

async function deleteWhere(
  store: SessionStore,
  isMeant: (summary: SessionSummary) => boolean,
  reason: 'age' | 'all',
  { signal, logger }: RetentionOptions,
): Promise<RetentionReport> {
  const report: RetentionReport = { deleted: 0, kept: 0, failed: [] }
  for await (const summary of allSessions(store, signal)) {
    const { sessionId } = summary
    if (!isMeant(summary)) {
      report.kept += 1
      continue
    }
    try {
      if (!(await store.delete(sessionId))) continue
      report.deleted += 1
      logEvent(logger, 'sessionDeleted', { sessionId, reason, ...(summary.owner !== undefined && { owner: summary.owner }) })
    } catch (error) {
      const message = errorText(error)
      report.failed.push({ sessionId, message })
      logWarning(logger, 'sessionNotDeleted', { sessionId, message })
    }
  }
  return report
}

/** Yields each session once, in list order, even if other sessions are deleted in the meantime. */
async function* allSessions(store: SessionStore, signal: AbortSignal | undefined): AsyncGenerator<SessionSummary, void, undefined> {
  const seen = new Set<string>()
  const checkCircle = circleGuard()
  let cursor: string | undefined
  do {
    signal?.throwIfAborted()
    const page = await store.list({ limit: 100, ...(cursor !== undefined && { cursor }) })
    const before = seen.size
    for (const summary of page.sessions) {
      signal?.throwIfAborted()
      if (!seen.has(summary.sessionId)) yield summary
      seen.add(summary.sessionId)
    }
    cursor = page.nextCursor
    checkCircle(cursor, seen.size > before)
  } while (cursor !== undefined)
}

async function* linesFrom(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string, void, undefined> {
  if (first.done !== true) yield first.value
  yield* rest
}

async function* nothing(): AsyncGenerator<string, void, undefined> {}

function logEvent(logger: Logger | false | undefined, event: string, fields: { [name: string]: string }): void {
  if (logger === false) return
  try {
    logger?.info?.(event, fields)
  } catch {
    // A failing logger must not affect the result.
  }
}
