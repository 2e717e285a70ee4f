import { join } from 'node:path'
import type { FileOperations } from '../file-operations.ts'
import { type EpochFile, listEpochs, withEpochs } from './epoch-files.ts'
import type { SegmentedLog } from './segments.ts'
import { removeFiles } from './snapshot.ts'

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Writes bytes to a separate file next to a log. The file is durable when this resolves. An interrupted write leaves a `.tmp` file, which
 * is ignored.
 */
export async function putBlob(operations: FileOperations, { folder, epoch }: SegmentedLog, hash: string, bytes: Bytes): Promise<void> {
  const target = join(folder, `blob.${epoch}.${hash}`)
  const unfinished = `${target}.tmp`
  try {
    await operations.createExclusive(unfinished)
    await operations.append(unfinished, bytes)
    await operations.sync(unfinished)
    await operations.rename(unfinished, target)
  } catch (error) {
    await operations.remove(unfinished).catch(() => {})
    throw error
  }
  await operations.syncDirectory(folder)
}

/** Returns the newest bytes under `hash`, or `undefined` if there are none. */
export function getBlob(operations: FileOperations, folder: string, hash: string): Promise<Bytes | undefined> {
  return withEpochs(operations, folder, async (files) => {
    const newest = files.filter((file) => file.hash === hash).toSorted((a, b) => b.epoch - a.epoch)[0]
    return newest && operations.readBytes(join(folder, newest.name))
  })
}

/** Removes files of older writers, except `hashes`, and unfinished ones. */
export async function keepBlobs(operations: FileOperations, log: SegmentedLog, hashes: ReadonlySet<string>): Promise<void> {
  const isLeft = ({ kind, epoch, hash, name }: EpochFile) =>
    epoch < log.epoch && (kind === 'blob' ? !hashes.has(hash ?? '') : kind === 'unfinished' && name.startsWith('blob.'))
  const files = (await listEpochs(operations, log.folder)) ?? []
  await removeFiles(operations, log.folder, files.filter(isLeft))
}
