import { readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { sessionFromSpecJson, sessionToSpecJson } from '../../../src/rust.ts'
import { assertSessionId, checkSession, type Session, SessionError } from '../../../src/session.ts'
import { createPrivate, makeDurableDirectory, nodeFileOperations, reported, syncDirectory } from '../session/file-operations.ts'
import { isAbsent } from '../session/log/epoch-files.ts'
import { systemCode } from '../workspace/fs-errors.ts'

const ending = '.json'

/**
 * Writes a session to `<directory>/<session id>.json` in the format of the Rust crate. Creates the directory if it is missing.
 *
 * **Contract**
 * - The write is atomic and durable when this resolves. If one session is saved concurrently, every save succeeds and one of them remains.
 * - Rejects with `SessionError`: `invalidId`, `invalidSession` for invalid data (with its path) or data that the format cannot
 *   hold, `quota`, `io`.
 * - The cost grows with the session. While an agent runs, use `fileSessionStore`.
 *
 * Source: docs/reference/sessions.md
 */
export async function saveRustSession(session: Session, directory: string): Promise<void> {
  assertSessionId(checkSession(session).sessionId)
  // Encode before the first await, so that later changes by the caller have no effect.
  const copy = structuredClone(session)
  const text = sessionToSpecJson(copy)
  const target = fileOf(session.sessionId, directory)
  await reported(`save session ${session.sessionId}`, async () => {
    const temporary = `${target}.tmp.${process.pid}.${process.hrtime.bigint()}`
    try {
      await writeNew(temporary, text)
      await rename(temporary, target)
    } catch (error) {
      await unlink(temporary).catch(() => {})
      throw error
    }
    await syncDirectory(directory)
  })
}

/**
 * Reads a session from `<directory>/<session id>.json`, including files written by the Rust crate. Rejects with `SessionError`:
 * `invalidId`, `notFound`, `invalidSession` for a file in another format, `io`.
 */
export async function loadRustSession(sessionId: string, directory: string): Promise<Session> {
  assertSessionId(sessionId)
  const text = await reported(`load session ${sessionId}`, () => readFile(fileOf(sessionId, directory), 'utf8').catch(absentAs(sessionId)))
  try {
    return sessionFromSpecJson(text)
  } catch (error) {
    throw SessionError.isInstance(error) ? new SessionError(error.code, `Cannot load session ${sessionId}: ${error.message}`) : error
  }
}

/**
 * Lists the ids of the `.json` files in `directory`, most recently written first. Files without a readable time come last. Returns an
 * empty list if the directory does not exist.
 */
export async function listRustSessionIds(directory: string): Promise<string[]> {
  return reported('list the sessions', async () => {
    const ids = (await namesIn(directory)).filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length))
    const found: { sessionId: string; modified: number }[] = []
    for (const sessionId of ids.filter(isSessionId)) {
      const modified = await modifiedAt(fileOf(sessionId, directory))
      if (modified !== undefined) found.push({ sessionId, modified })
    }
    return found.sort((a, b) => b.modified - a.modified).map(({ sessionId }) => sessionId)
  })
}

/**
 * Loads every session of one agent, most recently written first. Reads all files of `directory`.
 *
 * **Contract**: calls `onUnreadable` for each file that cannot be read, and continues. Without `onUnreadable` it rejects with the error of
 * the first such file, as {@link loadRustSession} does.
 */
export async function loadRustSessionsForAgent(
  agentId: string,
  directory: string,
  { onUnreadable }: { onUnreadable?: (sessionId: string, error: SessionError) => void } = {},
): Promise<Session[]> {
  const sessions: Session[] = []
  for (const sessionId of await listRustSessionIds(directory)) {
    try {
      sessions.push(await loadRustSession(sessionId, directory))
    } catch (error) {
      if (onUnreadable === undefined || !SessionError.isInstance(error)) throw error
      // The file was deleted after listing.
      if (error.code !== 'notFound') onUnreadable(sessionId, error)
    }
  }
  return sessions.filter((session) => session.agentId === agentId)
}

/** Deletes `<directory>/<session id>.json`. Rejects with `SessionError`: `invalidId`, `notFound`, `io`. */
export async function deleteRustSession(sessionId: string, directory: string): Promise<void> {
  assertSessionId(sessionId)
  await reported(`delete session ${sessionId}`, async () => {
    await unlink(fileOf(sessionId, directory)).catch(absentAs(sessionId))
    await syncDirectory(directory)
  })
}

function fileOf(sessionId: string, directory: string): string {
  return join(resolve(directory), `${sessionId}${ending}`)
}

/** Writes and syncs a new file. Creates the directory if it is missing. */
async function writeNew(path: string, text: string): Promise<void> {
  const handle = await createPrivate(path).catch(async (error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error
    await makeDurableDirectory(nodeFileOperations(), dirname(path))
    return createPrivate(path)
  })
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Returns the modification time, or `undefined` if the file was deleted in the meantime, or is a directory. */
async function modifiedAt(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path)
    return found.isFile() ? found.mtimeMs : undefined
  } catch (error) {
    return isAbsent(error) ? undefined : 0
  }
}

function absentAs(sessionId: string): (error: unknown) => never {
  return (error) => {
    if (!isAbsent(error)) throw error
    throw new SessionError('notFound', `Session ${sessionId} does not exist. Use an id from listRustSessionIds().`)
  }
}

function isSessionId(id: string): boolean {
  try {
    assertSessionId(id)
    return true
  } catch {
    return false
  }
}
