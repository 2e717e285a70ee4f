import { raceAbort } from '../base/abort.ts'
import { provenanceOf } from '../context/requests/provenance.ts'
import { errorText } from '../types/errors.ts'
import type { AgentMessage } from '../types/message.ts'
import type { StreamRequest } from '../types/provider.ts'
import type { AnnotatedRequest, CapturedHttp } from '../types/request-capture.ts'
import type { LoopRun } from './loop-run.ts'

/**
 * Reports and records what the model is about to be sent, with where each message came from; with `httpBody` also the HTTP request. Never rejects, except
 * with the signal's reason: what cannot be shown is left out and logged.
 *
 * Source: spec/42, reference/phi-core-0.10.md §3 rows 27, 28.
 */
export async function captureRequest(
  run: LoopRun,
  entries: readonly AgentMessage[],
  request: StreamRequest,
  afterOverflow: boolean,
): Promise<void> {
  const { model, systemPrompt, messages, tools, thinkingLevel, maxTokens, temperature, responseFormat } = request
  const { captureTurnRequests } = run.config
  const captured: AnnotatedRequest = {
    systemPrompt,
    messages,
    provenance: provenanceOf(entries, messages),
    tools,
    modelId: model.id,
    provider: model.provider,
    api: model.api,
    thinkingLevel,
  }
  if (maxTokens !== undefined) captured.maxTokens = maxTokens
  if (temperature !== undefined) captured.temperature = temperature
  if (responseFormat !== undefined) captured.responseFormat = responseFormat
  if (typeof captureTurnRequests === 'object' && captureTurnRequests.httpBody) {
    const http = await captureHttp(run, request)
    if (http !== undefined) captured.http = http
  }
  const { turnIndex } = run
  run.events.emit({ type: 'turnRequest', turnIndex, request: captured, ...(afterOverflow && { afterOverflow }) })
  await run.record({ type: 'turnRequest', request: captured })
}

/** Encoded without a key: encoding is pure, the body is the one that will be sent. */
async function captureHttp(run: LoopRun, request: StreamRequest): Promise<CapturedHttp | undefined> {
  try {
    const { url, redactedHeaders: headers, body } = await raceAbort(run.config.model.provider.encode(request), run.signal)
    return { url: withoutSecrets(url), headers, body }
  } catch (error) {
    if (run.signal.aborted) throw error
    run.warn('captureFailed', { message: errorText(error) })
    return undefined
  }
}

/** Parameters that our codecs add: they say nothing secret. */
const knownParameters = new Set(['alt', 'api-version'])

/** The address without what a `baseUrl` may hold of secrets: user info, fragment, the values of parameters. The same where there is none. */
function withoutSecrets(address: string): string {
  // A relative one, as of a proxy, or one that is none because of what its password holds.
  if (!URL.canParse(address)) return address.replace(/\/\/.*@/s, '//').replace(/[?#].*$/s, '')
  const url = new URL(address)
  const names = [...url.searchParams.keys()].filter((name) => !knownParameters.has(name))
  if (url.username + url.password + url.hash === '' && names.length === 0) return address
  url.username = url.password = url.hash = ''
  for (const name of names) url.searchParams.set(name, 'redacted')
  return url.href
}
