import OpenAI from 'openai'
import { describe, expect, it, vi } from 'vitest'
import type { AskEndpoint } from '../../testing/index.ts'
import { patient } from './patience.ts'

/** Conversations of `endpointAgent` behind OpenAI's API, wherever a host keeps them: asked for with the official client. */
export function openAiHostTests(name: string, ask: AskEndpoint): void {
  const clientOf = (user: 'ada' | 'bob') =>
    new OpenAI({
      apiKey: 'sent by ask',
      baseURL: 'http://127.0.0.1/v1',
      maxRetries: 0,
      fetch: async (url, init) => {
        const headers = new Headers((init as RequestInit | undefined)?.headers)
        headers.delete('authorization')
        const { pathname, search } = new URL(String(url))
        return ask(`${pathname}${search}`, { ...(init as RequestInit), headers }, user)
      },
    })
  const client = clientOf('ada')
  const model = 'helper'
  const conversation = (kind: string) => `${kind}-${crypto.randomUUID()}`

  describe(name, () => {
    it('streams a completion of a session and continues it as a response', async () => {
      const id = conversation('talk')
      const messages = [{ role: 'user' as const, content: 'Go.' }]
      const stream = await client.chat.completions.create({ model, messages, stream: true }, { headers: { 'x-session-id': id } })
      let text = ''
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
      expect(text).toBe('one two three four')
      const next = await client.responses.create({ model, input: 'Again.', conversation: id })
      expect(next.output_text).toBe('one two three four')
      const branch = await client.responses.create({ model, input: 'And?', previous_response_id: next.id })
      expect([branch.status, branch.conversation?.id]).toEqual(['completed', id])
    })

    it('requests approval and continues once approved, hidden from other users', async () => {
      const first = await client.responses.create({ model, input: 'Send it.', conversation: conversation('ask') })
      const [asked] = first.output
      expect(asked).toMatchObject({ type: 'mcp_approval_request', name: 'send_mail' })
      const answer = [{ type: 'mcp_approval_response' as const, approval_request_id: asked?.id ?? '', approve: true }]
      await expect(clientOf('bob').responses.create({ model, previous_response_id: first.id, input: answer })).rejects.toMatchObject({
        status: 404,
      })
      await expect(clientOf('bob').responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
      const second = await client.responses.create({ model, previous_response_id: first.id, input: answer })
      expect(second.output_text).toBe('Sent.')
    })

    it('responds in the background and returns the result', async () => {
      const begun = await client.responses.create({ model, input: 'Go.', conversation: conversation('slow'), background: true })
      expect(begun.status).toBe('in_progress')
      const done = await vi.waitFor(async () => {
        const response = await client.responses.retrieve(begun.id)
        expect(response.status).not.toBe('in_progress')
        return response
      }, patient)
      expect([done.id, done.status]).toEqual([begun.id, 'completed'])
      expect(done.output.length).toBeGreaterThan(0)
    })
  })
}
