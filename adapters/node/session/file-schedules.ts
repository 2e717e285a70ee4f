import { mkdir, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ScheduleEntry, ScheduleStore } from '../../http/index.ts'
import { bookSchedules } from '../../http/internal.ts'
import { createPrivate, syncDirectory } from './file-operations.ts'

/**
 * Scheduled prompts in one file, for `schedules` of `memoryLiveSessions`: they survive the process and a power cut. For one process.
 *
 * Source: docs/schedules.md
 */
export function fileSchedules(path: string): ScheduleStore {
  let known: readonly ScheduleEntry[] | undefined
  return bookSchedules({
    read: async () => {
      known ??= JSON.parse(await readFile(path, 'utf8').catch(unlessMissing)) as ScheduleEntry[] // what was written below
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
