import { withoutUrlSecrets } from '../../base/text/secrets.ts'
import { provenanceOf } from '../../context/requests/provenance.ts'
import { errorText } from '../../contract/errors.ts'
import type { AnnotatedRequest, CapturedHttp } from '../../contract/model/request.ts'
import { toRecord } from '../../contract/model/request-settings.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { LoopState } from '../loop-state.ts'
import type { DerivedRequest } from '../model/request.ts'

/**
 * Emits and records the model request with each message's origin. With `httpBody`, includes the HTTP request. Omits and logs parts that it
 * cannot capture. Rejects only with the signal's reason.
 *
 * Source: docs/reference/tracing.md
 */
export async function captureRequest(loop: LoopState, { request, entries }: DerivedRequest, afterOverflow: boolean): Promise<void> {
  const { model, systemPrompt, messages, tools, thinking, maxTokens, temperature, responseFormat } = request
  const settings = toRecord(request)
  const { captureTurnRequests } = loop.config
  const captured: AnnotatedRequest = {
    systemPrompt,
    messages,
    provenance: provenanceOf(entries, messages),
    tools,
    modelId: model.id,
    provider: model.provider,
    api: model.api,
    thinkingLevel: thinking,
  }
  if (maxTokens !== undefined) captured.maxTokens = maxTokens
  if (temperature !== undefined) captured.temperature = temperature
  if (settings !== undefined) captured.settings = settings
  if (responseFormat !== undefined) captured.responseFormat = responseFormat
  if (typeof captureTurnRequests === 'object' && captureTurnRequests.httpBody) {
    const http = await captureHttp(loop, request)
    if (http !== undefined) captured.http = http
  }
  const { turnIndex } = loop
  loop.events.emit({ type: 'turnRequest', turnIndex, request: captured, ...(afterOverflow && { afterOverflow }) })
  await loop.record({ type: 'turnRequest', request: captured })
}

/** Encodes without an API key. Encoding is pure, so the body equals the sent one. */
async function captureHttp(loop: LoopState, request: StreamRequest): Promise<CapturedHttp | undefined> {
  try {
    const { url, redactedHeaders: headers, body } = await loop.stop.race(loop.turn.model.provider.encode(request))
    return { url: withoutUrlSecrets(url), headers, body }
  } catch (error) {
    if (loop.stop.aborted) throw error
    loop.log.warn('captureFailed', { message: errorText(error) })
    return undefined
  }
}
