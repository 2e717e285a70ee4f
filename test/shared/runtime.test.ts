import { describe, expect, it } from 'vitest'
import { baseUrl, runtimeName } from '../harness/env.ts'

describe(`in ${runtimeName()}`, () => {
  it('connects to the fixture server, which sees every stream end', async () => {
    expect(await (await fetch(`${baseUrl()}/none-paused`)).text()).toBe('none paused')
  })
})
