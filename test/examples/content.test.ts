import { expect, it } from 'vitest'
import { answerWithSources } from '../../examples/recipes/citations.ts'
import { describePicture } from '../../examples/recipes/files-by-address.ts'
import { drawAndChange } from '../../examples/recipes/media.ts'
import { define } from '../../examples/recipes/request-settings.ts'
import { google } from '../../src/providers/google/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { add } from '../support/play.ts'

it('an answer has numbers behind what rests on a page, and lists the pages', async () => {
  const page = (start: number) => ({ title: 'report.pdf', document: { index: 0, unit: 'page' as const, start, end: start + 1 } })
  const model = scripted([{ text: 'Revenue rose.', citations: [page(3), page(5), page(3)] }])
  const { text, sources } = await answerWithSources(model, new Blob(['%PDF-1.7 x'], { type: 'application/pdf' }), 'And?')
  expect(text).toBe('Revenue rose.[1][2]')
  expect(sources).toEqual(['report.pdf, page 3', 'report.pdf, page 5'])
  expect(model.provider.requests[0]?.messages[0]).toMatchObject({ content: [{ type: 'file', citations: true }, { type: 'text' }] })
})

it('a picture goes back with the wish to change it', async () => {
  const red = {
    type: 'image' as const,
    mimeType: 'image/png',
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  }
  const green = { ...red, data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgaGAAAAEEAIFw9selAAAAAElFTkSuQmCC' }
  const model = scripted([{ blocks: [red] }, { blocks: [green] }])
  expect(await drawAndChange(model, 'A red dot.', 'Now green.')).toEqual([red, green])
  expect(JSON.stringify(model.provider.requests[1]?.messages)).toContain(red.data)
})

it('a picture by its address goes to a service that fetches it, and is fetched from no other host', async () => {
  const url = 'https://a.example/a.png'
  expect(await describePicture(scripted([{ text: 'A dot.' }]), url, ['files.example.com'])).toBe('A dot.')
  const model = google('gemini-3-pro', { apiKey: 'k', fetch: () => Promise.reject(new Error('was asked')) })
  await expect(describePicture(model, url, ['files.example.com'])).rejects.toMatchObject({
    code: 'unsupportedMedia',
    message: expect.stringContaining('a.example is not in the list of hosts'),
  })
})

it('a word is looked up before it is explained', async () => {
  const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'Three.' }])
  expect(await define(model, [add], 'three')).toBe('Three.')
  expect(model.provider.requests.map(({ toolChoice, seed }) => [toolChoice, seed])).toEqual([
    ['required', 7],
    ['auto', 7],
  ])
})
