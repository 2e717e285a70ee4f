import type { JsonObject } from '../../contract/json.ts'
import type { Citation, Content, ServiceToolContent } from '../../contract/message/content.ts'
import { notRunText } from '../shared/answers.ts'
import { blockId } from './parts.ts'
import type { UiSourcePart, UiToolCall, UiToolState } from './ui-message.ts'

/** A call that the service ran itself, as it was made. */
export function serviceCallOf({ id, name, input }: ServiceToolContent): UiToolCall {
  return { type: 'dynamic-tool', toolCallId: id, toolName: name, input: input ?? {}, providerExecuted: true }
}

/** Where such a call stands. `isCut`: its answer is not whole, so it never ends. */
export function serviceStateOf({ status, output, error }: ServiceToolContent, isCut: boolean): UiToolState {
  if (status === 'done') return { state: 'output-available', output: output ?? '' }
  if (status === 'failed') return { state: 'output-error', errorText: error?.message ?? error?.code ?? 'The tool of the service failed.' }
  return isCut ? { state: 'output-error', errorText: notRunText } : { state: 'input-available' }
}

/**
 * What the texts of an answer rest on, each source once, in the order in which they are cited. Quotes, and places in the text and in the document, are
 * in `providerMetadata.phi.citations`.
 */
export function sourceParts(content: readonly Content[], step: number): UiSourcePart[] {
  const found = new Map<string, { first: Citation; citations: JsonObject[] }>()
  for (const [contentIndex, block] of content.entries()) {
    if (block.type !== 'text') continue
    for (const citation of block.citations ?? []) {
      const { url, document: within, fileId, title } = citation
      const key = JSON.stringify(url === undefined ? [within?.index, fileId, title] : [url])
      const source = found.get(key) ?? { first: citation, citations: [] }
      found.set(key, source)
      source.citations.push({ contentIndex, ...placeOf(citation) })
    }
  }
  return Array.from(found.values(), ({ first, citations }, index) => {
    const shared = { sourceId: `source-${blockId(step, index)}`, providerMetadata: { phi: { citations } } }
    return first.url !== undefined && /^https?:/i.test(first.url)
      ? { type: 'source-url', ...shared, url: first.url, ...(first.title !== undefined && { title: first.title }) }
      : { type: 'source-document', ...shared, ...documentOf(first) }
  })
}

function placeOf({ citedText, range, document: within }: Citation): JsonObject {
  return {
    ...(citedText !== undefined && { citedText }),
    ...(range !== undefined && { range: { ...range } }),
    ...(within !== undefined && { document: { ...within } }),
  }
}

/** The protocol wants a media type, and services do not say it: pages are those of a PDF. */
function documentOf({ title, document: within }: Citation): { mediaType: string; title: string } {
  if (within === undefined) return { mediaType: 'application/octet-stream', title: title ?? 'Document' }
  return { mediaType: within.unit === 'page' ? 'application/pdf' : 'text/plain', title: title ?? `Document ${within.index + 1}` }
}
