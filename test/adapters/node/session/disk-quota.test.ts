import { describe, expect, it } from 'vitest'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import { type FileOperations, nodeFileOperations } from '../../../../adapters/node/session/file-operations.ts'
import { failureOf, temporaryRoot } from '../temporary.ts'

describe('fileDriver', () => {
  // As a fsync that fails with EDQUOT is reported by each of them on Linux.
  it.each([
    ['Node', { code: 'Unknown system error -122', errno: -122 }, 'Unknown system error -122: Unknown system error -122, fsync'],
    ['Deno', {}, 'Disk quota exceeded (os error 122)'],
    ['Bun', { code: 'EDQUOT', errno: -122 }, 'EDQUOT: unknown error, fsync'],
  ])('maps EDQUOT to quota: %s', async (_, fields, message) => {
    if (process.platform !== 'linux') return
    const { root } = temporaryRoot()
    const failing: FileOperations = { ...nodeFileOperations(), sync: () => Promise.reject(Object.assign(new Error(message), fields)) }
    const driver = fileDriver(root, failing)
    expect(await failureOf(driver.claim('s1', 'a'))).toBe('quota')
  })
})
