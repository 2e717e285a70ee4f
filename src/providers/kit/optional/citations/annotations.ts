import type { JsonObject } from '../../../../contract/json.ts'
import type { Citation, FileContent, ProviderState, TextRange } from '../../../../contract/message/content.ts'
import { typeByName } from '../../../../contract/message/media.ts'
import type { TokenLogprob } from '../../../../contract/message/message.ts'
import type { CodePoints } from './code-points.ts'

const kinds: ReadonlySet<unknown> = new Set(['url_citation', 'file_citation', 'container_file_citation', 'file_path'])

/** Returns whether an annotation has a known type. */
export function isCitation({ type }: JsonObject): boolean {
  return kinds.has(type)
}

/** Returns the end of an annotation's range in code points, or 0 without a range. */
export function reachOf({ end_index, index }: JsonObject): number {
  return Math.max(numberIn(end_index) ?? 0, numberIn(index) ?? 0)
}

/** Converts an annotation to a citation. Limits its range to the text received so far. Source: docs/providers/openai-responses.md */
export function citationOf(annotation: JsonObject, text: CodePoints): Citation {
  const { url, title, filename, file_id, content } = annotation
  const range = rangeOf(annotation, text)
  return {
    ...textField('url', url),
    ...textField('title', title ?? filename),
    ...textField('citedText', content),
    ...(range && { range }),
    ...textField('fileId', file_id),
  }
}

/** Returns the container file that an annotation refers to, or `undefined` for other annotations. */
export function containerFile(annotation: JsonObject, api: string, state: ProviderState): FileContent | undefined {
  const { type, file_id: fileId, filename } = annotation
  if (type !== 'container_file_citation' || typeof fileId !== 'string' || fileId === '') return undefined
  const name = typeof filename === 'string' ? filename : fileId
  return { type: 'file', mimeType: typeByName(name) ?? 'application/octet-stream', fileId, api, name, providerState: state }
}

/** Returns valid log probabilities. */
export function logprobsIn(list: unknown): TokenLogprob[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((each: unknown) => {
    const { top_logprobs: top } = Object(each) as { top_logprobs?: unknown } // each field is validated
    const likely = likelyToken(each)
    if (likely === undefined) return []
    const others = Array.isArray(top) ? top.flatMap((other: unknown) => likelyToken(other) ?? []) : []
    return [others.length === 0 ? likely : { ...likely, top: others }]
  })
}

function likelyToken(value: unknown): { token: string; logprob: number } | undefined {
  const { token, logprob } = Object(value) as { token?: unknown; logprob?: unknown } // each field is validated
  return typeof token === 'string' && typeof logprob === 'number' ? { token, logprob } : undefined
}

function rangeOf({ start_index, end_index, index }: JsonObject, text: CodePoints): TextRange | undefined {
  const from = numberIn(start_index) ?? numberIn(index)
  const to = numberIn(end_index) ?? numberIn(index)
  if (from === undefined || to === undefined) return undefined
  const start = text.unitAt(from) ?? text.length
  return { start, end: Math.max(start, text.unitAt(to) ?? text.length) }
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

function textField<Name extends string>(name: Name, value: unknown): { [Key in Name]?: string } {
  const field: { [Key in Name]?: string } = {}
  if (typeof value === 'string' && value !== '') field[name] = value
  return field
}
