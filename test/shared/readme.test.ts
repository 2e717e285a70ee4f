import { describe, expect, it } from 'vitest'
import { ask } from '../../examples/hello.ts'
import { baseUrl } from '../harness/env.ts'

const ignore = () => undefined

describe('the Getting started program', () => {
  it('runs its tool and returns text', async () => {
    const at = `/anthropic/tool/${crypto.randomUUID()}`
    const written: string[] = []
    const answer = await ask('What is 2 + 3?', { apiKey: 'test-key', baseUrl: `${baseUrl()}${at}` }, (text) => void written.push(text))
    expect(written.join('')).toContain('The tool said: sum 5.')
    expect(answer).toBe('The tool said: sum 5.')
    const requests: unknown[] = await (await fetch(`${baseUrl()}/log${at}`)).json()
    expect(requests).toHaveLength(2)
  })

  it('reports a missing key and the variable to set', async () => {
    for (const options of [{}, { apiKey: '' }, { apiKey: '', baseUrl: 'https://api.anthropic.com/' }]) {
      const asked = ask('What is 2 + 3?', options, ignore)
      await expect(asked).rejects.toMatchObject({ name: 'ConfigError', code: 'invalidOption' })
      await expect(asked).rejects.toThrow(/apiKey.*ANTHROPIC_API_KEY/)
    }
  })

  it('rejects with a RunError with code "auth" if the provider returns 401', async () => {
    const fetch = async () => new Response('{"error":{"message":"no"}}', { status: 401 })
    const refused = ask('What is 2 + 3?', { apiKey: 'test-key', fetch }, ignore)
    await expect(refused).rejects.toMatchObject({ name: 'RunError', code: 'auth' })
  })
})
