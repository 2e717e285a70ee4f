import { describe, expect, it } from 'vitest'
import { baseUrl, runtimeName } from '../harness/env.ts'

describe(`in ${runtimeName()}`, () => {
  it('reaches the fixture server, which sees the end of every open stream', async () => {
    expect(await (await fetch(`${baseUrl()}/none-paused`)).text()).toBe('none paused')
  })
})
