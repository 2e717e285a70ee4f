import { SessionError } from '../../contract/errors.ts'
import type { LogClaim, LogDriver, SessionDigest } from '../../types/session/session-store.ts'
import { advanceDigest, digestOf } from './digest.ts'
import { LogReader, type LogReading } from './read-log.ts'
import { decodeLine } from './record-codec.ts'

/**
 * Calls `use` with each line that is stored; resolves with whether that is nothing, `undefined` for an unknown session. Lines are let go as they are
 * read: of a long session there is no room for the text beside what it says.
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

/** What a claim found, with the records after `after`. When it rejects, or `isLate`, nobody needs it: it is released, or read no further. */
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
 * What the lines of a log amount to, for a driver that keeps no digest of them. With `before`, the digest of what the same writer wrote before
 * them. Rejects with `SessionError` `invalidSession` or `newerSchema` where nothing can be read.
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
  throw new SessionError(damage.kind === 'newerSchema' ? damage.kind : 'invalidSession', `Nothing of it can be read: ${damage.reason}`)
}

function advanceByLine(digest: SessionDigest, line: string): SessionDigest {
  const decoded = decodeLine(line)
  return 'kind' in decoded ? digest : advanceDigest(digest, decoded.record)
}
