import { SessionError } from '../../contract/errors.ts'
import type { LogClaim, LogDriver, SessionDigest } from '../../types/session/session-store.ts'
import { advanceDigest, digestOf } from './digest.ts'
import { LogReader, type LogReading } from './read-log.ts'
import { decodeLine } from './record-codec.ts'

/**
 * Calls `use` with each stored line. Resolves with whether the log is empty, or `undefined` for an unknown session. Releases lines as they
 * are read, to save memory.
 */
export async function readStored(
  driver: LogDriver,
  sessionId: string,
  after: number,
  use: (line: string) => void,
  onProgress?: () => void,
): Promise<boolean | undefined> {
  if (driver.stream === undefined) {
    const lines = copied(await driver.read(sessionId, after, onProgress))
    if (lines === undefined) return undefined
    for (const line of drained(lines)) use(line)
    return lines.length === 0
  }
  const found = await driver.stream(sessionId, after)
  if (found === undefined) return undefined
  let isEmpty = true
  for await (const batch of found) {
    for (const line of batch) use(line)
    isEmpty &&= batch.length === 0
    onProgress?.()
  }
  return isEmpty
}

function copied(lines: readonly string[] | undefined): string[] | undefined {
  return lines && [...lines]
}

/** Reads the records after `after` for a claim. Releases the claim if it rejects, and stops reading if `isLate`. */
export async function readClaimed(
  driver: LogDriver,
  claim: LogClaim,
  after: number,
  isLate: () => boolean,
  onProgress: () => void,
): Promise<LogReading> {
  const { lines, more } = claim
  claim.lines = []
  delete claim.more
  const reader = new LogReader(after)
  for (const line of drained([...lines])) reader.add(line)
  try {
    for await (const batch of more ?? []) {
      for (const line of batch) reader.add(line)
      if (isLate()) break
      onProgress()
    }
  } catch (error) {
    await driver.release(claim).catch(() => undefined)
    throw error
  }
  return reader.end()
}

function* drained(lines: string[]): Generator<string> {
  for (const [at, line] of lines.entries()) {
    lines[at] = ''
    yield line
  }
}

/**
 * Computes a log's digest, for a driver that stores none. `before` is the digest of earlier lines of the same writer. Rejects with
 * `SessionError` `invalidSession` or `newerSchema` if nothing can be read.
 */
export async function digestOfLines(batches: AsyncIterable<readonly string[]>, before?: SessionDigest): Promise<SessionDigest> {
  if (before !== undefined) {
    let digest = before
    for await (const lines of batches) digest = lines.reduce(advanceByLine, digest)
    return digest
  }
  const reader = new LogReader(0)
  for await (const lines of batches) for (const line of lines) reader.add(line)
  const { records, damage } = reader.end()
  if (records.length > 0 || damage === undefined) return digestOf(records)
  throw new SessionError(damage.kind === 'newerSchema' ? damage.kind : 'invalidSession', `The session is unreadable: ${damage.reason}`)
}

function advanceByLine(digest: SessionDigest, line: string): SessionDigest {
  const decoded = decodeLine(line)
  return 'kind' in decoded ? digest : advanceDigest(digest, decoded.record)
}
