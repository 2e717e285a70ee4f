import { describe, expect, it } from 'vitest'
import { ask } from '../../examples/hello.ts'
import { baseUrl } from '../harness/env.ts'

describe('the first program of the README', () => {
  it('runs its tool and answers', async () => {
    const at = `/anthropic/tool/${crypto.randomUUID()}`
    const answer = await ask('What is 2 + 3?', { apiKey: 'test-key', baseUrl: `${baseUrl()}${at}` })
    expect(answer).toBe('The tool said: sum 5.')
    const requests: unknown[] = await (await fetch(`${baseUrl()}/log${at}`)).json()
    expect(requests).toHaveLength(2)
  })
})
