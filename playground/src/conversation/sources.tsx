import { escapeControls, type Source } from '../../../src/store/index.ts'

/** Quotes that are shown of a source. */
const maxQuotes = 3

/** What an answer rests on, numbered as in its text. */
export function Sources({ sources }: { sources: readonly Source[] }) {
  if (sources.length === 0) return null
  return (
    <section class="sources" aria-label="Sources" data-testid="sources">
      <h4>Sources</h4>
      <ol>
        {sources.map((source, at) => (
          // A source never changes its place.
          <li key={at} data-source={at + 1} tabIndex={-1}>
            <SourceName source={source} /> <span class="source-place">{source.host ?? placesOf(source)}</span>
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

/** The pages of a document; of texts and lists, from which character or part on. */
function placesOf({ citations }: Source): string {
  const places = citations.flatMap(({ document }) => {
    if (document === undefined) return []
    const { unit, start, end } = document
    if (unit !== 'page') return [`${unit === 'char' ? 'character' : 'part'} ${start}`]
    return [end > start + 1 ? `pages ${start}–${end - 1}` : `page ${start}`]
  })
  return [...new Set(places)].join(', ')
}

function quotesOf({ citations }: Source): string[] {
  return [...new Set(citations.flatMap(({ citedText = '' }) => (citedText.trim() === '' ? [] : [citedText.trim()])))].slice(0, maxQuotes)
}

/** Leads from the number in a text to its source in the same message. */
export function toSource(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a.cite') : null
  if (link === null) return
  event.preventDefault()
  const source = link.closest('.message')?.querySelector<HTMLElement>(`[data-source="${Number(link.textContent)}"]`)
  source?.focus()
  source?.scrollIntoView({ block: 'nearest' })
}
