import { describe, expect, it } from 'vitest'
import type { FileContent } from '../../../src/contract/message/content.ts'
import { type AssistantMessage, type Message, textOf } from '../../../src/contract/message/message.ts'
import { openrouter } from '../../../src/providers/openai.ts'
import { answering, sse } from '../bytes.ts'
import { outcomeOf, plainRequest, sentBody, user } from '../model-call.ts'

type Json = Record<string, unknown>

const pdf: FileContent = { type: 'file', mimeType: 'application/pdf', name: 'a.pdf', data: btoa('%PDF-1.7 x') }
const question: Message = { role: 'user', content: [pdf, { type: 'text', text: 'What?' }], timestamp: 1 }
const parsed = (hash: string): Json => ({
  type: 'file',
  file: { hash, name: 'a.pdf', content: [{ type: 'text', text: `Page of ${hash}` }] },
})
const link = { type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A' } }
const chunk = (delta: Json): Json => ({ id: 'c', choices: [{ index: 0, delta }] })
const end: unknown[] = [{ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, '[DONE]']
const id = 'deepseek/deepseek-v4'

async function answered(...chunks: Json[]): Promise<{ message: AssistantMessage; warnings: string[] }> {
  const { provider, config } = openrouter(id, { apiKey: 'k', fetch: answering([sse(...chunks, ...end)]) })
  const { message, events, error } = await outcomeOf(provider, plainRequest(config, { messages: [question] }))
  expect(error).toBeUndefined()
  if (message === undefined) throw new Error('no message')
  return { message, warnings: events.flatMap((event) => (event.type === 'warning' ? [event.warning] : [])) }
}

async function sent(messages: Message[], model = openrouter(id, { apiKey: 'k' })): Promise<Json[]> {
  return (await sentBody<{ messages: Json[] }>(model.provider, plainRequest(model.config, { messages, cache: { type: 'disabled' } })))
    .messages
}

describe('a PDF that OpenRouter parsed', () => {
  it('sends a PDF to any model by its bytes or its URL', async () => {
    const [message] = await sent([question])
    expect(message?.content).toContainEqual({
      type: 'file',
      file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf.data}` },
    })
    const byUrl: FileContent = { type: 'file', mimeType: 'application/pdf', name: 'a.pdf', url: 'https://a.example/a.pdf' }
    const [other] = await sent([{ ...question, content: [byUrl, { type: 'text', text: 'What?' }] }])
    expect(other?.content).toContainEqual({ type: 'file', file: { filename: 'a.pdf', file_data: 'https://a.example/a.pdf' } })
  })

  it('sends a parsed PDF back once, so that it is not parsed again', async () => {
    const { message, warnings } = await answered(
      chunk({ annotations: [parsed('h1'), link] }),
      chunk({ content: 'So.' }),
      chunk({ annotations: [parsed('h1'), parsed('h2')] }),
    )
    expect(warnings).toEqual([])
    expect(textOf(message.content)).toBe('So.')
    expect(message.content).toMatchObject([{ type: 'text', citations: [{ url: 'https://a.example/' }] }])
    const messages = await sent([question, message, user('And?')])
    expect(messages[1]).toEqual({ role: 'assistant', content: 'So.', annotations: [parsed('h1'), parsed('h2'), link] })
    expect(messages[0]?.content).toContainEqual(expect.objectContaining({ type: 'file' }))
  })

  it('keeps a parsed PDF when responses are merged', async () => {
    const first = (await answered(chunk({ content: 'One.', annotations: [parsed('h1')] }))).message
    const second = (await answered(chunk({ content: 'Two.', annotations: [parsed('h2')] }))).message
    const messages = await sent([question, first, second, user('And?')])
    expect(messages[1]).toMatchObject({ role: 'assistant', annotations: [parsed('h1'), parsed('h2')] })
    expect(messages).toHaveLength(3)
  })

  it('sends a parsed PDF only to the model that parsed it', async () => {
    const { message } = await answered(chunk({ content: 'So.', annotations: [parsed('h1')] }))
    const other = await sent([question, message, user('And?')], openrouter('z-ai/glm-5', { apiKey: 'k' }))
    expect(other[1]).toEqual({ role: 'assistant', content: 'So.' })
  })

  it('lets OpenRouter parse again with a warning if the parsed form is too large', async () => {
    const huge = { type: 'file', file: { hash: 'h3', content: [{ type: 'text', text: 'x'.repeat(17 * 1024 * 1024) }] } }
    const { message, warnings } = await answered(chunk({ content: 'So.', annotations: [parsed('h1'), huge] }))
    expect(warnings).toEqual([expect.stringContaining('parsed')])
    expect((await sent([question, message, user('And?')]))[1]).toEqual({ role: 'assistant', content: 'So.', annotations: [parsed('h1')] })
  })
})

describe('citations of an OpenRouter response', () => {
  it('keeps citations when responses are merged', async () => {
    const other = { type: 'url_citation', url_citation: { url: 'https://b.example/', title: 'B' } }
    const first = (await answered(chunk({ content: 'One.', annotations: [link] }))).message
    const second = (await answered(chunk({ content: 'Two.', annotations: [other] }))).message
    const messages = await sent([question, first, second, user('And?')])
    expect(messages[1]).toMatchObject({ role: 'assistant', annotations: [link, other] })
  })
})
