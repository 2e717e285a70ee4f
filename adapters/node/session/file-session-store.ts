import { mkdir, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { kind } from '../../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../../src/index.ts'
import { logSessionStore } from '../../../src/session.ts'
import type { ScheduleEntry, ScheduleStore } from '../../http/index.ts'
import { bookSchedules } from '../../http/internal.ts'
import { fileDriver } from './file-driver.ts'
import { createPrivate, syncDirectory } from './file-operations.ts'

const aDirectory = kind(
  'the path of a directory, as in fileSessionStore("./sessions")',
  (value) => typeof value === 'string' && value !== '',
)

/**
 * Creates a session store with append-only logs below `directory`, which is created with the first session. For Node, Deno and Bun.
 *
 * **Contract** (in addition to that of `SessionStore`)
 * - An acknowledged record survives the end of the process and a power cut: file and directory are synced before.
 * - Writers may be in different processes: each starts an epoch, and an older one is rejected with `conflict` before its next
 *   acknowledgement. No lock is taken, none can be left behind. This relies on exclusive creation and on reading the latest writes of
 *   another process. Network file systems such as NFS and SMB do not guarantee them.
 * - `<directory>/<id>/log.<epoch>` holds the records of one writer, one line of JSON each. A file of 64 MiB is full; the writer then
 *   continues in the next one. When short logs have outgrown it, `snapshot.<epoch>` replaces older ones. A long log is read in chunks.
 *   A deleted session leaves no folder; `.deleted` records epochs that are never reused. `.summaries/<id>` holds list entries; the logs
 *   contain them too.
 * - `<directory>/<id>/blob.<epoch>.<sha256>` holds the bytes of a picture or a file of more than 48 KiB, as they are.
 * - Files and folders are made for their owner alone (0600, 0700), those above `directory` that are missing too.
 * - Ids that differ in case alone have different folders, also if the file system ignores case. Upper-case letters are written in lower
 *   case and noted behind a `+`.
 * - An append costs one write, one sync and one look at the folder and at `.lists`, however long the session is. Every 64 KB, a new title
 *   and `close` cost a summary more. `.lists` records where sessions ended. A list reads the folders that `.lists` names and those written
 *   since. It reads at most 64 KB of each session that `.lists` names, or all of it if no summary is left.
 * - `quota` when the disk is full, `io` for other failures; no path in any message.
 *
 * Source: docs/concepts/sessions.md
 */
export function fileSessionStore(directory: string): SessionStore {
  checkOptions(directory, aDirectory, 'directory')
  return logSessionStore(fileDriver(directory))
}

/**
 * Creates a store of scheduled prompts in one file, for `schedules` of `memoryLiveSessions`. Durable across restarts and power failures. For one process.
 *
 * Source: docs/guides/deploy.md
 */
export function fileSchedules(path: string): ScheduleStore {
  let known: readonly ScheduleEntry[] | undefined
  return bookSchedules({
    read: async () => {
      known ??= JSON.parse(await readFile(path, 'utf8').catch(unlessMissing)) as ScheduleEntry[] // written below
      return known
    },
    write: async (entries) => {
      const unfinished = `${path}.${crypto.randomUUID()}`
      await mkdir(dirname(path), { recursive: true })
      const file = await createPrivate(unfinished)
      try {
        await file.writeFile(JSON.stringify(entries))
        await file.datasync()
      } finally {
        await file.close()
      }
      await rename(unfinished, path)
      await syncDirectory(dirname(path))
      known = entries
    },
  })
}

function unlessMissing(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '[]'
  throw error
}
