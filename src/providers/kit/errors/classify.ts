import { namedPage } from '../../../base/http-answer.ts'
import { shortened } from '../../../base/text/characters.ts'
import { isContextOverflowText } from '../../../base/text/overflow-text.ts'
import { withoutSecret } from '../../../base/text/redact.ts'
import { bareUrl } from '../../../base/text/secrets.ts'
import { ProviderError, type ProviderErrorCode, type ProviderErrorOptions } from '../../../contract/errors.ts'
import { type ErrorFacts, readErrorFacts } from './error-facts.ts'
import { retryAfterMs } from './retry-after.ts'

export { isContextOverflowText } from '../../../base/text/overflow-text.ts'

/** Returns advice for a provider's rejection, based on error names and texts, or `undefined` if there is none. */
export type RefusalHint = (code: ProviderErrorCode, message: string, names: string) => string | undefined

/** Facts about a rejection: an HTTP response, or an error object in a stream. */
export interface Failure {
  /** The provider's display name, such as `Anthropic`. */
  service: string
  /** The requested URL. Messages omit user info and query, which may contain keys. */
  url?: string
  /** HTTP status. Absent for errors in a stream. */
  status?: number
  headers?: Headers
  /** Body text of an HTTP response, or the parsed error object of a stream. */
  body: unknown
  /** The sent key, or its secret parts, to redact if the provider echoes it. */
  credential?: string | readonly string[]
  /** Whether the backend responds with 400 and no body if the prompt is too long (Cerebras, Mistral). */
  emptyBodyIsOverflow?: boolean
  /** Describes the caller's probable mistake, based on the error code and the provider's message. */
  hint?: RefusalHint | undefined
}

const maxQuote = 500
const maxRead = 8192

/** Matches messages about the key, which may contain it. */
const ofKeys = /key|token|secret|credential/i

/**
 * Returns the error for a provider's rejection.
 *
 * **Contract**
 * - Checks for throttling before overflow ("too many tokens" matches both), then for key errors, then for all others.
 * - Retryable: 408, 409, 425, 429, 5xx and their error names in streams, unless `x-should-retry` overrides it. Never retryable: 402,
 *   exhausted quotas and spend limits.
 * - Quotes at most 500 characters of the provider's message, without the key. Does not quote a message about the key.
 *
 * Source: docs/reference/errors.md
 */
export function classifyError(failure: Failure): ProviderError {
  const facts = readErrorFacts(failure.body, failure.status, failure.headers?.get('x-amzn-errortype'))
  const code = codeOf(facts, failure)
  const asked = failure.headers?.get('x-should-retry')
  const isTransient = code === 'rateLimited' || (code === 'api' && isTransientStatus(facts.status))
  const isRetryable = !facts.isExhausted && (asked === 'true' || (asked !== 'false' && isTransient))
  const options: ProviderErrorOptions = { isRetryable }
  if (facts.status !== undefined) options.status = facts.status
  const delay = isRetryable ? retryAfterMs(failure.headers, facts, code === 'rateLimited') : undefined
  if (delay !== undefined) options.retryAfterMs = delay
  return new ProviderError(code, messageOf(code, facts, failure), options)
}

function codeOf(facts: ErrorFacts, failure: Failure): ProviderErrorCode {
  const { status } = facts
  if (facts.isThrottled) return 'rateLimited'
  if (status === 413 || isContextOverflowText(`${facts.text} ${facts.names}`)) return 'contextOverflow'
  if (failure.emptyBodyIsOverflow === true && status === 400 && facts.text.trim() === '') return 'contextOverflow'
  if (status === 401 || status === 403 || status === 407 || facts.isBadKey) return 'auth'
  return 'api'
}

function isTransientStatus(status: number | undefined): boolean {
  return status === 408 || status === 409 || status === 425 || (status !== undefined && status >= 500 && status !== 501)
}

function messageOf(code: ProviderErrorCode, facts: ErrorFacts, { service, credential, status, hint, url }: Failure): string {
  const where = status === undefined ? '' : ` (${status})`
  const at = url === undefined ? '' : ` at ${withoutSecret(bareUrl(url), credential)}`
  const quoted = quote(facts.text, credential)
  const detail = quoted === '' ? '.' : `: ${quoted}`
  const advice = hint?.(code, facts.text, facts.names)
  if (status === 407) return `A proxy on the way to ${service} requires credentials${where}. Add them to the proxy settings.`
  if (code === 'auth') {
    // Do not quote messages about keys, which may echo the key in any form and add little information. Other 403s concern a country, a
    // model or an account.
    const isQuoted = status === 403 && !facts.isBadKey && !ofKeys.test(facts.text)
    const what = isQuoted ? `refused access${at}${where}${detail}` : `rejected the API key${at}${where}.`
    return `${service} ${what} ${advice ?? 'Check the key and its permissions.'}`
  }
  if (facts.isExhausted)
    return `${service} refused the request: the account's quota or credit is used up${where}${detail} Check its plan and billing.`
  if (code === 'rateLimited')
    return `${service} is rate limiting requests${where}${detail} Wait before you retry, send fewer requests, or raise the account's limit.`
  if (code === 'contextOverflow') return `The prompt exceeds the context window${where}${detail} Shorten or compact the conversation.`
  if (status === 404 || status === 405 || facts.isMissingModel)
    return `${service} found nothing${at || ' there'}${where}${detail} Check the model id and baseUrl.`
  if (isTransientStatus(status)) return `${service} reported an error${where}${detail} The error is temporary. Retry later.`
  return `${service} reported an error${where}${detail}${advice === undefined ? '' : ` ${advice}`}`
}

/**
 * Quotes at most 500 characters of the provider's message on one line, with a redacted key and a final period. Truncates before and after
 * redaction: an echo may be long, and a truncated key must still be redacted.
 */
function quote(text: string, credential: Failure['credential']): string {
  const line = namedPage(text.slice(0, maxRead).replace(/\s+/g, ' ').trim())
  const quoted = shortened(withoutSecret(line, credential), maxQuote)
  return quoted === '' || /[.!?…]$/.test(quoted) ? quoted : `${quoted}.`
}
