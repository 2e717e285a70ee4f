import { describe, expect, it } from 'vitest'
import type { Content } from '../../src/contract/message/content.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import type { Model } from '../../src/types/model/model.ts'
import { answerBy, authorOf, plainRequest, result, user } from './model-call.ts'

const pdf: Content = { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' }
const image: Content = { type: 'image', mimeType: 'image/png', data: 'AA==' }
const call: Content = { type: 'toolCall', id: 'c1', name: 'read', arguments: {} }

async function sent(model: Model, content: Content[], isError = false): Promise<string> {
  const messages = [user('a'), answerBy(authorOf(model.config), [call], { stopReason: 'toolUse' }), result('c1', content, isError)]
  return (await model.provider.encode(plainRequest(model.config, { messages }))).body
}

describe('a result without text', () => {
  it.each([
    ['Anthropic', anthropic('claude-opus-4-6'), true],
    ['Gemini', google('gemini-3.5-flash'), false],
    ['Chat Completions', openai('gpt-5.1'), false],
  ] as const)('names omitted files and images by type in a result without text, %s', async (_, model, isError) => {
    expect(await sent(model, [pdf], isError)).toContain('(see attached files)')
    expect(await sent(model, [pdf, image], isError)).toContain('(see attached files)')
    expect(await sent(model, [image], isError)).toContain('(see attached image)')
  })
})

describe('Gemini media by URL', () => {
  const asked = async (id: string, block: Content) => {
    const model = google(id)
    return await model.provider.encode(plainRequest(model.config, { messages: [{ ...user('What?'), content: [block] }] }))
  }

  it.each<Content>([
    { type: 'image', mimeType: 'image/jpeg', url: 'https://a.example/a.jpg' },
    { type: 'file', mimeType: 'application/pdf', url: 'https://a.example/a.pdf' },
  ])('sends the URL to Gemini: $mimeType', async (block) => {
    const { body, warnings } = await asked('gemini-3.5-flash', block)
    expect(JSON.parse(body).contents[0].parts[0]).toEqual({ fileData: { mimeType: Object(block).mimeType, fileUri: Object(block).url } })
    expect(warnings).toEqual([])
  })

  it('omits media whose URL the model does not fetch', async () => {
    const sound: Content = { type: 'file', mimeType: 'audio/wav', url: 'https://a.example/a.wav' }
    const document: Content = { type: 'file', mimeType: 'application/pdf', url: 'https://a.example/a.pdf' }
    expect((await asked('gemini-3.5-flash', sound)).warnings.join()).toContain('does not fetch')
    expect((await asked('gemini-2.0-flash', document)).warnings.join()).toContain('does not fetch')
  })
})
