import type { Content } from '../../../../src/index.ts'
import { byteLengthOf, mediaName } from '../../../../src/internal.ts'
import { type Source, sourcesOf } from '../../../../src/store/index.ts'
import { joined, type Painted, type Painter } from '../terminal/paint.ts'
import { shortCount } from './figures.ts'

/** What an answer has beside its text: pictures and files by name, and its sources, numbered. */
export function besidesLines(content: readonly Content[], { paint, plain }: Painter): Painted[] {
  const media = content.flatMap((block) => {
    if (block.type !== 'image' && block.type !== 'file') return []
    const { data, url } = block
    const where = data === undefined ? (url ?? 'kept by the service') : `${shortCount(byteLengthOf(data))} bytes; /save writes it to a file`
    return [joined(paint('cyan', `▣ ${mediaName(block)}`), paint('dim', `  ${where}`))]
  })
  const sources = sourcesOf(content).map((source, at) =>
    joined(paint('cyan', `[${at + 1}] `), plain(source.title), paint('dim', `  ${placeOf(source)}`)),
  )
  return [...media, ...sources]
}

/** The host and the address of a source, or the places in the document. */
function placeOf({ url, host, citations }: Source): string {
  if (url !== undefined) return `${host} · ${url}`
  const places = citations.flatMap(({ document }) =>
    document === undefined ? [] : [document.unit === 'page' ? `p. ${document.start}` : `${document.unit} ${document.start}`],
  )
  return [...new Set(places)].slice(0, 8).join(', ')
}
