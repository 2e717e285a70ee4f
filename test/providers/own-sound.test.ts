import { describe, expect, it } from 'vitest'
import type { Content } from '../../src/contract/message/content.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { answerBy, authorOf, plainRequest, user } from './model-call.ts'

const key = { apiKey: 'k-0123456789' }
const speaker = google('gemini-2.5-flash-preview-tts', key)
const hearing = google('gemini-3-flash', key)

/** A request to `model` after `author` made `block`. */
async function sentAfter(author: Model, block: Content, model: Model) {
  const messages = [user('Say hi.'), answerBy(authorOf(author.config), [block]), user('Again.')]
  const { body, warnings } = await model.provider.encode({ ...plainRequest(model.config, { messages }), ...{ credential: key.apiKey } })
  return { body, warnings }
}

const stateOf = ({ config: { api, id } }: Model) => ({ api, model: id, payload: {} })
const soundOf = (author: Model): Content => ({ type: 'file', mimeType: 'audio/wav', data: 'UklGRg==', providerState: stateOf(author) })

describe('audio that a model generated', () => {
  it('returns generated audio to a Gemini model that accepts audio', async () => {
    const { body, warnings } = await sentAfter(hearing, soundOf(hearing), hearing)
    expect(body).toContain('UklGRg==')
    expect(warnings).toEqual([])
  })

  it('replaces generated audio with a warning for a model that accepts none', async () => {
    const { body, warnings } = await sentAfter(speaker, soundOf(speaker), speaker)
    expect(body).not.toContain('UklGRg==')
    expect(body).toContain('left out: this model does not accept audio/wav')
    expect(warnings).toEqual([expect.stringContaining('this model does not accept audio/wav')])
  })

  it.each<[string, Model]>([
    ['Anthropic', anthropic('claude-sonnet-5', key)],
    ['Chat Completions', openai('gpt-5.1', key)],
    ['Responses', openaiResponses('gpt-5.1', key)],
    ['Gemini', speaker],
  ])('warns about generated audio for another model: %s', async (_name, model) => {
    const { body, warnings } = await sentAfter(hearing, soundOf(hearing), model)
    expect(body).not.toContain('UklGRg==')
    expect(warnings).toEqual([expect.stringContaining('audio/wav')])
  })

  it('sends generated audio without a warning to a model that accepts audio', async () => {
    const { body, warnings } = await sentAfter(hearing, soundOf(hearing), google('gemini-2.5-pro', key))
    expect(body).toContain('UklGRg==')
    expect(warnings).toEqual([])
  })
})

it('warns about a generated image if another model accepts none', async () => {
  const picture: Content = { type: 'image', mimeType: 'image/png', data: 'iVBORw==', providerState: stateOf(hearing) }
  const { warnings } = await sentAfter(hearing, picture, openai('gpt-3.5-turbo', key))
  expect(warnings).toEqual([expect.stringContaining('this model accepts only text')])
})
