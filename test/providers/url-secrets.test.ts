import { expect, it } from 'vitest'
import { openai } from '../../src/providers/openai.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

it.each([
  ['a query parameter', 'https://proxy.example/v1?token=canary-0123456789', 'canary-0123456789'],
  ['a user name', 'https://canary-user-0123:pass-0123456789@proxy.example/v1', 'canary-user-0123'],
  ['a password', 'https://me:canary-pass-0123@proxy.example/v1', 'canary-pass-0123'],
])('redacts %s of baseUrl that the provider echoes', async (_name, baseUrl, secret) => {
  const fetch = async () => Response.json({ error: { message: `nothing known about ${secret} here` } }, { status: 400 })
  const { config, provider } = openai('m', { baseUrl, apiKey: 'key-0123456789', fetch })
  const { error } = await outcomeOf(provider, plainRequest(config))
  const said = error instanceof Error ? error.message : ''
  expect(said).toContain('nothing known about')
  expect(said).not.toContain(secret)
})
