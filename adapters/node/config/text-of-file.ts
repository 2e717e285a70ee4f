import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { ConfigError } from '../../../src/index.ts'
import { systemCode } from '../workspace/fs-errors.ts'

/** Bytes of an agent file, or of a prompt in a file of its own: none that a person wrote has so many. */
const maxBytes = 524_288

/**
 * The text of a file. Rejects with `ConfigError`: `io` for one that cannot be read or is no regular file, `parse` for one that is too long or no UTF-8. A
 * FIFO or device would never end, so nothing is waited for, and no more than the limit is read.
 */
export async function textOfFile(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await file.stat()
    if (!stats.isFile()) throw new ConfigError('io', `${path} cannot be read: it is no regular file.`)
    const buffer = new Uint8Array(maxBytes + 1)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    if (bytesRead > maxBytes) throw new ConfigError('parse', `${path} is longer than ${maxBytes} bytes, which is too long.`)
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead))
  } catch (error) {
    if (ConfigError.isInstance(error)) throw error
    if (error instanceof TypeError) throw new ConfigError('parse', `${path} is no text in UTF-8.`, { cause: error })
    throw new ConfigError('io', `${path} cannot be read: ${systemCode(error) ?? 'it cannot be opened'}.`, { cause: error })
  }
}
