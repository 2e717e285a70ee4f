import { namedPage } from '../../../base/http-answer.ts'
import { shortened } from '../../../base/text/characters.ts'
import { isContextOverflowText } from '../../../base/text/overflow-text.ts'
import { withoutSecret } from '../../../base/text/redact.ts'
import { bareUrl } from '../../../base/text/secrets.ts'
import { ProviderError, type ProviderErrorCode, type ProviderErrorOptions } from '../../../contract/errors.ts'
import { type ErrorFacts, readErrorFacts } from './error-facts.ts'
import { retryAfterMs } from './retry-after.ts'

export { isContextOverflowText } from '../../../base/text/overflow-text.ts'

/** What to do about a refusal that one service alone has, by its words and its names; `undefined` where there is no more to say. */
export type RefusalHint = (code: ProviderErrorCode, said: string, names: string) => string | undefined

/** What is known about a refusal: an HTTP answer, or an error object inside a stream. */
export interface Failure {
  /** The service, for people: `Anthropic`. */
  service: string
  /** The address that was asked. Told without user info and query, where people put keys. */
  url?: string
  /** HTTP status; absent for errors inside a stream. */
  status?: number
  headers?: Headers
  /** The body of an HTTP answer as text, or the error object of a stream as parsed JSON. */
  body: unknown
  /** The key that was sent, or its secret parts, to remove them where the service echoes them. */
  credential?: string | readonly string[]
  /** Whether this backend answers 400 without a body when the prompt is too long (Cerebras, Mistral). */
  emptyBodyIsOverflow?: boolean
  /** What the caller has probably got wrong, by the code of the error and what the service said. */
  hint?: RefusalHint | undefined
}

const maxQuote = 500
const maxRead = 8192

/** What a service says of the key, and may repeat it in. */
const ofKeys = /key|token|secret|credential/i

/**
 * The error for a refusal by a service.
 *
 * **Contract**
 * - Throttling is recognised before overflow ("too many tokens" is both), overflow before keys, keys before the rest.
 * - Retryable: 408, 409, 425, 429, 5xx and their in-stream names, unless `x-should-retry` decides otherwise. Never: 402, exhausted quotas and
 *   spend limits.
 * - The text of the service is quoted, at most 500 characters of it, without the key; not at all where it says something of the key.
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
  const said = quoted === '' ? '.' : `: ${quoted}`
  const advice = hint?.(code, facts.text, facts.names)
  if (status === 407) return `A proxy on the way to ${service} wants credentials${where}. Set them where the proxy is set.`
  if (code === 'auth') {
    // Services echo keys in ways nobody foresees, and what they say of one adds little. Another 403 is about a country, a model, an account.
    const isQuoted = status === 403 && !facts.isBadKey && !ofKeys.test(facts.text)
    const what = isQuoted ? `refused access${at}${where}${said}` : `rejected the API key${at}${where}.`
    return `${service} ${what} ${advice ?? 'Check the key and what it may access.'}`
  }
  if (facts.isExhausted)
    return `${service} refused: the quota or credit of this account is used up${where}${said} Check its plan and billing.`
  if (code === 'rateLimited')
    return `${service} is limiting the rate of requests${where}${said} Wait before asking again, ask less often, or raise the limit of the account.`
  if (code === 'contextOverflow') return `The prompt does not fit the context window${where}${said} Shorten or compact the conversation.`
  if (status === 404 || status === 405 || facts.isMissingModel)
    return `${service} found nothing${at || ' there'}${where}${said} Check the model id and baseUrl.`
  if (isTransientStatus(status)) return `${service} reported an error${where}${said} Such errors pass: ask again later.`
  return `${service} reported an error${where}${said}${advice === undefined ? '' : ` ${advice}`}`
}

/**
 * At most 500 characters of what the service said, on one line, without the key, ending like a sentence. Cut twice: an echo may be long, and
 * what is left of one that was cut off must still be recognised.
 */
function quote(text: string, credential: Failure['credential']): string {
  const line = namedPage(text.slice(0, maxRead).replace(/\s+/g, ' ').trim())
  const quoted = shortened(withoutSecret(line, credential), maxQuote)
  return quoted === '' || /[.!?…]$/.test(quoted) ? quoted : `${quoted}.`
}
