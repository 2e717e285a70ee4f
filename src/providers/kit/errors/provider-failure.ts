import { isRedirect } from '../../../base/http-answer.ts'
import { isLoopbackHost } from '../../../base/private-host.ts'
import { withoutSecret } from '../../../base/text/redact.ts'
import { errorText, ProviderError, type ProviderErrorOptions } from '../../../contract/errors.ts'
import type { RateLimits } from '../../../contract/model/usage.ts'
import type { Exchange } from '../codec.ts'
import { StreamRefusal } from '../decode/decoder.ts'
import { OddValue } from '../decode/wire-value.ts'
import { classifyError, type Failure } from './classify.ts'

/** How far a call proceeded before it failed. */
export type Stage = 'open' | 'refused' | 'read' | 'decode'

/** Facts about a failed call. */
export interface FailedCall {
  exchange: Exchange
  stage: Stage
  /** The thrown error. Absent if the response ended too early. */
  error?: unknown
  response?: Response
  limits?: RateLimits | undefined
  /** Rejection body, as text. */
  body?: string
  /** Description of the detected stall. */
  stall?: string
}

/**
 * Creates the `ProviderError` for a failed call, with the received message as `partial`. Detects an abort by the signal, because engines
 * throw different errors from an aborted fetch.
 */
export function toProviderError(call: FailedCall): ProviderError {
  const { decoder, secrets } = call.exchange
  const found = causeOf(call)
  // Do not set the engine's error as `cause`, because it may contain the headers.
  const message = withoutSecret(found.message, secrets())
  const options: ProviderErrorOptions = { isRetryable: found.isRetryable }
  if (found.maxRetries !== undefined) options.maxRetries = found.maxRetries
  if (found.status !== undefined) options.status = found.status
  if (found.retryAfterMs !== undefined) options.retryAfterMs = found.retryAfterMs
  if (call.limits !== undefined) options.limits = call.limits
  if (decoder.builder.isStarted) options.partial = decoder.builder.fail(found.code === 'cancelled' ? 'aborted' : 'error', message)
  return new ProviderError(found.code, message, options)
}

function causeOf({ exchange, stage, error, response, body, stall }: FailedCall): ProviderError {
  const { service, signal } = exchange
  if (signal.aborted) return new ProviderError('cancelled', `The call to ${amid(service)} was cancelled: ${errorText(signal.reason)}`)
  // This also handles a rejection whose body never ended, because the status is sufficient.
  if (stage === 'refused' && response !== undefined) return refused(exchange, response, body ?? '')
  if (stall !== undefined) return stalled(service, stall)
  if (error instanceof StreamRefusal) return classifyError(failureFrom(exchange, error.body))
  if (error instanceof ProviderError) return error
  if (error instanceof OddValue) {
    return new ProviderError(
      'network',
      `${service} sent ${error.message}, which is not valid. Check any proxy between client and provider.`,
    )
  }
  if (error === undefined) return incomplete(exchange, response)
  const text = transportText(error, exchange.call.url)
  if (stage === 'decode') return new ProviderError('other', `Cannot decode the response of ${amid(service)}: ${text}`)
  if (stage === 'read')
    return new ProviderError('network', `The connection to ${amid(service)} was lost: ${text.replace(/\.$/, '')}. Retry.`)
  return isRefusedHere(error, exchange.call.url) ? notRunning(exchange) : unreachable(exchange, text, error)
}

/** Creates the error for a stall. Such a call is retried only once, because the provider may have processed and billed the request. */
function stalled(service: string, stall: string): ProviderError {
  return new ProviderError('network', `${service} ${stall}. Raise that limit in the model factory, or set it to false.`, {
    maxRetries: 1,
  })
}

function refused(exchange: Exchange, response: Response, body: string): ProviderError {
  const { status } = response
  if (isRedirect(response)) return redirected(exchange.service, status)
  const failure = failureFrom(exchange, body)
  if (!response.ok) failure.status = status
  failure.headers = response.headers
  return classifyError(failure)
}

/** Passes the error body to the caller's observer first, then classifies it. */
function failureFrom({ service, secrets, call, onRefusal }: Exchange, body: unknown): Failure {
  onRefusal?.(body)
  const failure: Failure = { service, url: call.url, body, credential: secrets(), hint: call.hint }
  if (call.emptyBodyIsOverflow !== undefined) failure.emptyBodyIsOverflow = call.emptyBodyIsOverflow
  return failure
}

/** Returns the error for a redirect. Redirects are never followed. */
export function redirected(service: string, status: number): ProviderError {
  const [where, options] = status === 0 ? [''] : [` (${status})`, { status }]
  return new ProviderError(
    'api',
    `${service} redirected the request${where}. Redirects are refused because they would forward the key. Set baseUrl to the final URL.`,
    options,
  )
}

/** Returns whether this machine refused the connection. Then neither the browser nor the network is the cause, and a retry is useless. */
function isRefusedHere(error: unknown, url: string): boolean {
  const { code, cause }: { code?: unknown; cause?: { code?: unknown } } = Object(error)
  const isRefused = code === 'ECONNREFUSED' || code === 'ConnectionRefused' || Object(cause).code === 'ECONNREFUSED'
  return (isRefused || /connection refused/i.test(errorText(error))) && URL.canParse(url) && isLoopbackHost(new URL(url).hostname)
}

const ollamaPort = '11434'

function notRunning({ service, call }: Exchange): ProviderError {
  const { origin, port } = new URL(call.url)
  const named = service === 'The local server' ? service : `The server of ${service}`
  return new ProviderError(
    'network',
    `${named} is not running at ${origin}. Start it${port === ollamaPort ? ' (ollama serve)' : ''}, or check baseUrl.`,
    {
      isRetryable: false,
    },
  )
}

function unreachable({ service, call, browserHint }: Exchange, text: string, error: unknown): ProviderError {
  const advice = `; in a browser the provider may refuse calls from other origins: set baseUrl to a proxy${browserHint === undefined ? '' : `, ${browserHint}`}`
  // Browsers never report why a call failed, so an error with a cause comes from another runtime.
  const elsewhere = error instanceof Error && error.cause instanceof Error ? '' : advice
  return new ProviderError(
    'network',
    `${service} could not be reached at ${URL.canParse(call.url) ? new URL(call.url).origin : 'an invalid URL'}: ${text}. Check the network and baseUrl${elsewhere}.`,
  )
}

function incomplete({ service, decoder }: Exchange, response: Response | undefined): ProviderError {
  const type = response?.headers.get('content-type')
  if (!decoder.builder.isStarted && /^text\/html\b/i.test(type ?? '')) {
    const message = `${service} returned a web page (text/html) instead of a stream. Check baseUrl, and whether a proxy requires sign-in.`
    return new ProviderError('network', message, { isRetryable: false })
  }
  const was = decoder.builder.isStarted || typeof type !== 'string' ? '' : ` (content-type ${type.slice(0, 100)}: is baseUrl right?)`
  return new ProviderError('network', `The response of ${amid(service)} ended without ${decoder.terminal}${was}.`)
}

/**
 * Returns the reason of a transport error without the URL, whose query and user info may be secrets. Node puts the reason ("connect
 * ECONNREFUSED …") into `cause`.
 */
function transportText(error: unknown, url: string): string {
  const cause = error instanceof Error ? error.cause : undefined
  const text = cause instanceof Error && cause.message !== '' ? `${errorText(error)} (${cause.message})` : errorText(error)
  if (!URL.canParse(url)) return text
  const { href, origin, pathname } = new URL(url)
  return text.replaceAll(url, origin + pathname).replaceAll(href, origin + pathname)
}

/** Returns a provider's name for use within a sentence. */
function amid(service: string): string {
  return service.replace(/^The /, 'the ')
}
