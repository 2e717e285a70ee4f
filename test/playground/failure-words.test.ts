import { describe, expect, it } from 'vitest'
import { topicOf, wordsOfService } from '../../playground/src/state/notices/failure-words.ts'
import { Agent } from '../../src/index.ts'
import { openaiCompatible } from '../../src/providers/openai.ts'
import { initialState, reduce } from '../../src/store.ts'

/** How a run ends that asks a service which answers so. */
async function failureOf(answer: () => Response, apiKey: string | (() => string) = 'k') {
  const options = { baseUrl: 'http://127.0.0.1:9/v1', apiKey, fetch: async () => answer() }
  const agent = new Agent({ model: openaiCompatible('m', options), retry: { maxRetries: 0 }, logger: false })
  let state = initialState()
  for await (const event of agent.prompt('Hello')) state = reduce(state, event)
  const { failure } = state
  if (failure === undefined) throw new Error('It did not fail.')
  return failure
}

const html = () => new Response('<!doctype html><html></html>', { headers: { 'content-type': 'text/html' } })
const cut = () =>
  new Response('data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n', { headers: { 'content-type': 'text/event-stream' } })
const none = () => {
  throw new TypeError('Failed to fetch')
}
const noKey = () => {
  throw new Error('No key is set. Enter one in the settings.')
}
const busy = () => Response.json({ error: { message: 'Slow down.' } }, { status: 429, headers: { 'retry-after': '1500' } })
const quota = () => Response.json({ error: { message: 'Used up.', code: 'insufficient_quota' } }, { status: 429 })

describe('provider errors in the playground', () => {
  const options = /baseUrl|apiKey|finish_reason|credentials failed/

  it('reports an unreachable server with the number of attempts', () => {
    const last = 'Cannot reach the server: Failed to fetch. Is it running, and does it list the origin of this page in cors?'
    const lost = `Cannot reach the session after 11 attempts. Last error: ${last}. Call load() to retry.`
    expect(wordsOfService(lost)).toBe(
      'Cannot reach the server: Failed to fetch. Is it running, and does it let this page in (CORS)? Tried 11 times.',
    )
    expect(topicOf({ code: 'connectionLost', message: lost })).toBe('No answer')
  })

  it.each([
    ['a web page', () => failureOf(html), 'No answer', /web page \(text\/html\).*the address in the settings/],
    ['a truncated response', () => failureOf(cut), 'Broken off', /broke off before its end/],
    ['an unreachable server', () => failureOf(none), 'No answer', /could not be reached at http:\/\/127\.0\.0\.1:9: Failed to fetch\.$/],
    ['a missing key', () => failureOf(cut, noKey), 'Failed', /^No key is set\. Enter one in the settings\.$/],
    ['a rate limit with a delay', () => failureOf(busy), 'Too many requests', /Slow down\. (?!.*run waits)/],
    ['an exhausted quota', () => failureOf(quota), 'Quota used up', /Used up\./],
  ])('explains %s without naming SDK options', async (_name, failing, topic, says) => {
    const failure = await failing()
    expect(wordsOfService(failure.message)).toMatch(says)
    expect(wordsOfService(failure.message)).not.toMatch(options)
    expect(topicOf(failure)).toBe(topic)
  })
})
