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
 * - An acknowledged record survives a process exit and a power failure, because file and directory are synced before.
 * - Writers may be in different processes. Each starts an epoch, and older writers are rejected with `conflict` before their next
 *   acknowledgement. There are no locks that could be left behind. This relies on exclusive file creation and on reading other processes'
 *   latest writes, which network file systems such as NFS and SMB do not guarantee.
 * - `<directory>/<id>/log.<epoch>` contains one writer's records, one line of JSON each. After 64 MiB, the writer continues in the next
 *   file. `snapshot.<epoch>` replaces older short logs once they exceed it in size. A long log is read in chunks. A deleted session leaves
 *   no folder. `.deleted` records epochs that are never reused. `.summaries/<id>` contains list entries, which the logs also contain.
 * - `<directory>/<id>/blob.<epoch>.<sha256>` contains the raw bytes of an image or file over 48 KiB.
 * - Files and folders, including missing parents of `directory`, are accessible only by their owner (0600, 0700).
 * - Ids that differ only in case have different folders, even on case-insensitive file systems. Upper-case letters are written in lower
 *   case and encoded after a `+`.
 * - An append takes one write, one sync and one check of the folder and `.lists`, regardless of the session's length. Every 64 KB, a new
 *   title and `close` also write a summary. `.lists` records the ends of sessions. A list inspects the sessions recorded there as changed,
 *   and folders written since. It reads at most 64 KB per session, or the whole session without a summary.
 * - Rejects with `quota` if the disk is full, and `io` for other failures. Messages contain no paths.
 *
 * Source: docs/concepts/sessions.md
 */
export function fileSessionStore(directory: string): SessionStore {
  checkOptions(directory, aDirectory, 'directory')
  return logSessionStore(fileDriver(directory))
}

/**
 * Creates a store for scheduled prompts in one file, for the `schedules` option of `memoryLiveSessions`. The prompts survive restarts and
 * power failures. Only one process may use the file.
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
