import { describe, expect, it } from 'vitest'
import { newId } from '../../src/contract/message/identity.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('newId', () => {
  it('returns a version 4 UUID, also without crypto.randomUUID', () => {
    const original = crypto.randomUUID
    const ids = [newId()]
    Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true })
    try {
      for (let n = 0; n < 100; n++) ids.push(newId())
    } finally {
      Object.defineProperty(crypto, 'randomUUID', { value: original, configurable: true })
    }
    for (const id of ids) expect(id).toMatch(uuid)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
