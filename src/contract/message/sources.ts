import type { Citation, FileCitations } from './content.ts'

/** A cited source, without duplicates. */
export interface Source {
  /** Title, host or document number. */
  title: string
  /** An `http:` or `https:` URL, safe to link. Absent for other schemes. */
  url?: string
  /** Host of `url`, such as `example.org`. */
  host?: string
  /** All citations of this source, each with the citing block's index. */
  citations: (Citation & { contentIndex: number })[]
}

/** The citing part of a content block. */
interface CitingBlock {
  readonly type: string
  readonly citations?: readonly Citation[] | FileCitations | undefined
}

/**
 * Collects a message's cited sources without duplicates, in citation order, to number from 1. Escape titles and URLs, because the provider
 * supplies them. Source: docs/concepts/messages.md
 */
export function sourcesOf(blocks: readonly CitingBlock[]): Source[] {
  const found = new Map<string, Source>()
  for (const [contentIndex, { type, citations }] of blocks.entries()) {
    if (type !== 'text' || typeof citations !== 'object') continue
    for (const citation of citations) {
      const { url, document: within, fileId, title } = citation
      const key = JSON.stringify(url === undefined ? [within?.index, fileId, title] : [url])
      const source = found.get(key) ?? { ...nameOf(citation), citations: [] }
      found.set(key, source)
      source.citations.push({ contentIndex, ...citation })
    }
  }
  return [...found.values()]
}

function nameOf({ url, title, document: within }: Citation): Omit<Source, 'citations'> {
  const address = url !== undefined && URL.canParse(url) ? new URL(url) : undefined
  if (url !== undefined && address !== undefined && /^https?:$/.test(address.protocol))
    return { title: title ?? address.host, url, host: address.host }
  return { title: title ?? (within === undefined ? 'Document' : `Document ${within.index + 1}`) }
}
