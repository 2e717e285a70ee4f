import type { JsonObject } from '../../contract/json.ts'
import type { Citation, Content, ServiceToolContent } from '../../contract/message/content.ts'
import { sourcesOf } from '../../contract/message/sources.ts'
import { notRunText } from '../shared/answers.ts'
import { blockId } from './parts.ts'
import type { UiSourcePart, UiToolCall, UiToolState } from './ui-message.ts'

/** Converts a provider-executed call. */
export function serviceCallOf({ id, name, input }: ServiceToolContent): UiToolCall {
  return { type: 'dynamic-tool', toolCallId: id, toolName: name, input: input ?? {}, providerExecuted: true }
}

/** Returns the state of a provider-executed call. `isCut`: the response is incomplete, so the call never ends. */
export function serviceStateOf({ status, output, error }: ServiceToolContent, isCut: boolean): UiToolState {
  if (status === 'done') return { state: 'output-available', output: output ?? '' }
  if (status === 'failed')
    return { state: 'output-error', errorText: error?.message ?? error?.code ?? 'The provider-executed tool failed.' }
  return isCut ? { state: 'output-error', errorText: notRunText } : { state: 'input-available' }
}

/** Returns a response's sources. `providerMetadata.phi.citations` contains quotes and positions. */
export function sourceParts(content: readonly Content[], step: number): UiSourcePart[] {
  return sourcesOf(content).map(({ title, url, citations }, index) => {
    const citationData = citations.map(toJson)
    const shared = { sourceId: `source-${blockId(step, index)}`, providerMetadata: { phi: { citations: citationData } } }
    return url === undefined
      ? { type: 'source-document', ...shared, mediaType: mediaTypeOf(citations[0]), title }
      : { type: 'source-url', ...shared, url, title }
  })
}

function toJson({ contentIndex, citedText, range, document: within }: Citation & { contentIndex: number }): JsonObject {
  return {
    contentIndex,
    ...(citedText !== undefined && { citedText }),
    ...(range !== undefined && { range: { ...range } }),
    ...(within !== undefined && { document: { ...within } }),
  }
}

/** The protocol requires a media type, but providers do not report one. Documents with pages count as PDFs. */
function mediaTypeOf(citation: Citation | undefined): string {
  if (citation?.document === undefined) return 'application/octet-stream'
  return citation.document.unit === 'page' ? 'application/pdf' : 'text/plain'
}
