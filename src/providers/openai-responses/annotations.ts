import type { Citation, FileContent, TextRange } from '../../contract/message/content.ts'
import { typeByName } from '../../contract/message/media.ts'
import type { TokenLogprob } from '../../contract/message/message.ts'

/** What an annotation says: what the text rests on, and the file that it names, which the service keeps. */
export interface ReadAnnotation {
  citation?: Citation
  file?: FileContent & { fileId: string }
}

/** An annotation of the Responses API or of Chat Completions; nothing for one of another kind. Ranges count characters of `text`, our ranges UTF-16 units. */
export function annotationOf(annotation: object, text: string): ReadAnnotation {
  const wire: Record<string, unknown> = { ...annotation }
  const range = rangeOf(wire.start_index ?? wire.index, wire.end_index ?? wire.index, text)
  const title = textIn(wire.title) ?? textIn(wire.filename)
  const shared = { ...(title !== undefined && { title }), ...(range !== undefined && { range }) }
  const url = textIn(wire.url)
  const fileId = textIn(wire.file_id)
  if (wire.type === 'url_citation' && url !== undefined) return { citation: { url, ...shared } }
  if (fileId === undefined) return {}
  const citation = { fileId, ...shared }
  if (wire.type === 'file_citation') return { citation }
  if (wire.type !== 'container_file_citation' && wire.type !== 'file_path') return {}
  const mimeType = typeByName(title ?? '') ?? 'application/octet-stream'
  return { citation, file: { type: 'file', mimeType, fileId, ...(title !== undefined && { name: title }) } }
}

/** A range in characters as one in UTF-16 units, within `text`. */
function rangeOf(start: unknown, end: unknown, text: string): TextRange | undefined {
  if (typeof start !== 'number' || typeof end !== 'number' || !(start >= 0) || !(end >= start)) return undefined
  return { start: unitsAt(text, start), end: unitsAt(text, end) }
}

function unitsAt(text: string, characters: number): number {
  let at = 0
  for (let passed = 0; passed < characters && at < text.length; passed += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return at
}

/** How likely each token was. */
export function logprobsOf(list: readonly (object | null)[] | null | undefined): TokenLogprob[] {
  return (list ?? []).flatMap((each): TokenLogprob[] => {
    const { token, logprob, top_logprobs: top }: Record<string, unknown> = Object(each)
    if (typeof token !== 'string' || typeof logprob !== 'number') return []
    const likeliest = Array.isArray(top) && top.length > 0 ? logprobsOf(top) : []
    return [
      {
        token,
        logprob,
        ...(likeliest.length > 0 && { top: likeliest.map(({ token: word, logprob: value }) => ({ token: word, logprob: value })) }),
      },
    ]
  })
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
