import type { Citation } from '../../../src/index.ts'
import type { ScriptedStep } from '../../../testing/index.ts'
import { handbookPages } from './handbook.ts'
import { shipByDay, shipByNight } from './pictures.ts'

const handbookText = 'She is lifted by the ice, because her **hull is round**. Through the polar night a **windmill** lights her.'

export const aboutHandbook: ScriptedStep = {
  text: handbookText,
  citations: [pageCitation('hull is round**', 2), pageCitation('windmill** lights her', 3)],
}

/** Creates a citation of `said` from a page of the handbook. */
function pageCitation(citedText: string, page: number): Citation {
  const start = handbookText.indexOf(citedText)
  return {
    title: 'fram-handbook.pdf',
    citedText: handbookPages[page - 1] ?? '',
    range: { start, end: start + citedText.length },
    document: { index: 0, unit: 'page', start: page, end: page + 1 },
  }
}

const museum = { title: 'The Fram Museum', url: 'https://frammuseum.example/visit' }
const article = { title: 'Fram (ship)', url: 'https://encyclopedia.example/fram' }
const searchText = 'She stands in a museum in Oslo, under a roof of her own.'
const search = { type: 'serviceTool', id: 'search-1', name: 'web_search', input: { query: 'Fram ship museum' } } as const

export const searched: ScriptedStep = {
  text: searchText,
  citations: [
    { ...museum, range: { start: 0, end: searchText.indexOf(',') } },
    { ...article, range: { start: 0, end: searchText.length } },
  ],
  blocks: [
    { ...search, status: 'running' },
    { ...search, status: 'done', output: [museum, article] },
  ],
}

export const drawnByDay = drawn('draw-1', 'A ship in the ice, by day', shipByDay, 'Here she is.')
export const drawnByNight = drawn('draw-2', 'The same picture, at night', shipByNight, 'The same ship, by the light of the moon.')

function drawn(id: string, prompt: string, data: string, text: string): ScriptedStep {
  const tool = { type: 'serviceTool', id, name: 'image_generation', input: { prompt } } as const
  return {
    text,
    blocks: [
      { ...tool, status: 'running' },
      { ...tool, status: 'done' },
      { type: 'image', mimeType: 'image/png', data },
    ],
  }
}
