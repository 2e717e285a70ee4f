import { dirname } from 'node:path/posix'
import type { FileOperations } from '../../../adapters/node/session/file-operations.ts'

/** File operations that make a driver behave as one with a mistake in it. */
export type Flaw = (operations: FileOperations) => FileOperations

const nothing = async (): Promise<void> => {}

/** What a driver could get wrong, each of which must cost an acknowledged record sooner or later. */
export const flaws: Readonly<Record<string, Flaw>> = {
  'files are not synced': (operations) => ({ ...operations, sync: nothing }),
  'directories are not synced': (operations) => ({ ...operations, syncDirectory: nothing }),
  'newer writers are looked for before the append': checkBeforeAppend,
  'older logs are read before the epoch is created': readBeforeCreate,
  'an epoch may be created twice': (operations) => ({
    ...operations,
    createExclusive: (path) => operations.createExclusive(path).catch((error: unknown) => ifCode(error, 'EEXIST')),
  }),
  'logs are deleted before the name of the snapshot is durable': deleteBeforeSync,
  'snapshots are not synced': (operations) => ({
    ...operations,
    sync: (path) => (path.endsWith('.tmp') ? nothing() : operations.sync(path)),
  }),
  'a writer goes on from what its predecessor had not synced': syncOwnOnly,
}

function ifCode(error: unknown, code: string): void {
  if (Reflect.get(Object(error), 'code') !== code) throw error
}

/** What the next look shows is what was there before the append. */
function checkBeforeAppend(operations: FileOperations): FileOperations {
  const seen = new Map<string, string[]>()
  return {
    ...operations,
    append: async (path, text) => {
      seen.set(dirname(path), await operations.list(dirname(path)))
      await operations.append(path, text)
    },
    list: async (directory) => {
      const before = seen.get(directory)
      seen.delete(directory)
      return before ?? (await operations.list(directory))
    },
  }
}

/** What a claim reads is what was there before its epoch. */
function readBeforeCreate(operations: FileOperations): FileOperations {
  const seen = new Map<string, string>()
  return {
    ...operations,
    createExclusive: async (path) => {
      seen.clear()
      const directory = dirname(path)
      for (const name of await operations.list(directory)) {
        const text = await operations.read(`${directory}/${name}`).catch(() => undefined)
        if (text !== undefined) seen.set(`${directory}/${name}`, text)
      }
      await operations.createExclusive(path)
    },
    append: async (path, text) => {
      seen.clear()
      await operations.append(path, text)
    },
    readLines: async (path, part) => {
      const text = seen.get(path)
      return text === undefined ? operations.readLines(path, part) : { lines: text.split('\n'), next: part.to }
    },
  }
}

function deleteBeforeSync(operations: FileOperations): FileOperations {
  let isRenamed = false
  return {
    ...operations,
    rename: async (from, to) => {
      await operations.rename(from, to)
      isRenamed = true
    },
    syncDirectory: async (path) => {
      if (!isRenamed) await operations.syncDirectory(path)
      isRenamed = false
    },
  }
}

function syncOwnOnly(operations: FileOperations): FileOperations {
  const own = new Set<string>()
  return {
    ...operations,
    createExclusive: async (path) => {
      await operations.createExclusive(path)
      own.add(path)
    },
    sync: (path) => (own.has(path) ? operations.sync(path) : nothing()),
  }
}
