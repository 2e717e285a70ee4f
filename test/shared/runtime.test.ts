import { describe, expect, it } from 'vitest'
import { baseUrl, runtimeName } from '../harness/env.ts'

describe(`in ${runtimeName()}`, () => {
  it('reaches the fixture server', async () => {
    const response = await fetch(`${baseUrl()}/hung`)
    expect(await response.text()).toBe('0')
  })
})
