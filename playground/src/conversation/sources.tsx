import type { Citation, Content } from '../../../src/index.ts'
import { escapeControls, type Source } from '../../../src/store.ts'
import { isPdf, openPdf } from '../parts/pdf.ts'

/** Maximum number of quotes shown per source. */
const maxQuotes = 3

/** The block that a citation refers to. */
export type FindBlock = (place: NonNullable<Citation['document']>) => Content | undefined

/** A response's sources, numbered as in its text. */
export function Sources({ sources, find }: { sources: readonly Source[]; find: FindBlock }) {
  return (
    <section class="sources" aria-label="Sources" data-testid="sources">
      <h4>Sources</h4>
      <ol>
        {sources.map((source, at) => (
          // A source's index never changes.
          <li key={at} data-source={at + 1} tabIndex={-1}>
            <SourceName source={source} /> <span class="source-place">{source.host ?? <Places source={source} find={find} />}</span>
            {quotesOf(source).map((quote, number) => (
              <q key={number}>{escapeControls(quote)}</q>
            ))}
          </li>
        ))}
      </ol>
    </section>
  )
}

function SourceName({ source: { title, url } }: { source: Source }) {
  if (url === undefined) return <span class="source-title">{escapeControls(title)}</span>
  return (
    <a class="source-title external" href={url} title={url} target="_blank" rel="noopener noreferrer nofollow">
      {escapeControls(title)}
    </a>
  )
}

/** The cited pages in a document, as links if the document is available. For texts and lists, the start character or the part. */
function Places({ source: { citations }, find }: { source: Source; find: FindBlock }) {
  const places = new Map(citations.flatMap(({ document: place }) => (place === undefined ? [] : [[wordsOf(place), place] as const])))
  return [...places].map(([words, place], at) => {
    const block = place.unit === 'page' ? find(place) : undefined
    return (
      <span key={words}>
        {at > 0 && ', '}
        {block !== undefined && isPdf(block) ? (
          <button type="button" class="link" data-page={place.start} onClick={() => openPdf(block, place.start)}>
            {words}
          </button>
        ) : (
          words
        )}
      </span>
    )
  })
}

function wordsOf({ unit, start, end }: NonNullable<Citation['document']>): string {
  if (unit !== 'page') return `${unit === 'char' ? 'character' : 'part'} ${start}`
  return end > start + 1 ? `pages ${start}–${end - 1}` : `page ${start}`
}

function quotesOf({ citations }: Source): string[] {
  return [...new Set(citations.flatMap(({ citedText = '' }) => (citedText.trim() === '' ? [] : [citedText.trim()])))].slice(0, maxQuotes)
}
