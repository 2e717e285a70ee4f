import type { Citation, FileCitations } from './content.ts'

/** What a text rests on, once. */
export interface Source {
  /** What it is called; else its host, or which document it is. */
  title: string
  /** An `http:` or `https:` address, as a page may link it; absent for anything else. */
  url?: string
  /** Of `url`, such as `example.org`. */
  host?: string
  /** All that is cited of it, with the block that cites it. */
  citations: (Citation & { contentIndex: number })[]
}

/** A block of a message, as far as it cites. */
interface CitingBlock {
  readonly type: string
  readonly citations?: readonly Citation[] | FileCitations | undefined
}

/**
 * What the texts of a message rest on, each source once, in the order in which they are cited: number them from 1. Titles and addresses come from a
 * service: escape them. Source: docs/concepts/messages.md
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
