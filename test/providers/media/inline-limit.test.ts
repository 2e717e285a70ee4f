import { describe, expect, it } from 'vitest'
import type { MediaContent } from '../../../src/contract/message/content.ts'
import { Agent, type UserMessage } from '../../../src/index.ts'
import { google } from '../../../src/providers/google/index.ts'
import { answering, sse } from '../bytes.ts'

/** What Gemini takes: 100 MB, counted as base64 on the wire. */
const most = 100 * 1024 * 1024
const chunk = { candidates: [{ content: { role: 'model', parts: [{ text: 'A film.' }] }, finishReason: 'STOP' }] }

/** An agent, and how long its requests are. Their texts are not kept. */
function agentOn() {
  const sent: number[] = []
  const answer = answering([sse(chunk)])
  const send: typeof fetch = (url, init) => {
    sent.push(String(init?.body).length)
    return answer(url, init)
  }
  return { agent: new Agent({ model: google('gemini-3-flash', { apiKey: 'k', fetch: send }) }), sent }
}

const film = (chars: number): MediaContent => ({ type: 'file', mimeType: 'video/mp4', data: 'AAAA'.repeat(chars / 4) })
const asking = (...media: MediaContent[]): UserMessage => ({
  role: 'user',
  content: [...media, { type: 'text', text: 'What is it?' }],
  timestamp: 1,
})

describe('the media limit of Gemini', () => {
  it('accepts up to 100 MB of base64', async () => {
    const { agent, sent } = agentOn()
    expect(await agent.prompt(asking(film(most))).result).toMatchObject({ status: 'completed' })
    expect(sent).toHaveLength(1)
    expect(sent[0]).toBeGreaterThan(most)
  })

  it.each<[string, (chars: number) => UserMessage]>([
    ['in one file', (chars) => asking(film(chars))],
    ['in two files', (chars) => asking(film(chars - 4000), film(4000))],
  ])('rejects media over 100 MB before it enters the history: %s', async (_name, message) => {
    const { agent, sent } = agentOn()
    const { status, error } = await agent.prompt(message(most + 4)).result
    expect([status, error]).toMatchObject([
      'error',
      { code: 'unsupportedMedia', message: expect.stringMatching(/accepts 104857600 per request/) },
    ])
    expect([sent, agent.messages]).toEqual([[], []])
  })
})
