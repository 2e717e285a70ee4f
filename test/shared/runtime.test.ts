import { describe, expect, it } from 'vitest'
import { baseUrl, runtimeName } from '../harness/env.ts'

describe(`in ${runtimeName()}`, () => {
  it('reaches the fixture server, where no stream that a test left stays open', async () => {
    let open = ''
    // The server hears of a closed connection a moment later: it is asked again, not waited for.
    for (let tries = 0; tries < 500 && open !== '0'; tries += 1) open = await (await fetch(`${baseUrl()}/hung`)).text()
    expect(open).toBe('0')
  })
})
