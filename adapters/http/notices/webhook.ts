import { aLogger } from '../../../src/base/argument-checks.ts'
import { retryAfterIn } from '../../../src/base/http-answer.ts'
import { logWarning } from '../../../src/base/log-warning.ts'
import { isLoopbackHost } from '../../../src/base/private-host.ts'
import { delay, retryDelayMs, timerMs } from '../../../src/base/timer.ts'
import { errorText } from '../../../src/contract/errors.ts'
import { defaultRetry } from '../../../src/contract/run/settings.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFunction, aPositiveNumber, aText, options as optionsOf, required, wholeFrom } from '../../../src/contract/shape/shape.ts'
import { ConfigError, type Logger } from '../../../src/index.ts'
import { signingKey } from '../access/signature.ts'
import type { SessionNotice } from './session-notices.ts'
import { signatureHeader, signedNow, webhookBody } from './webhook-signature.ts'

/** Target and options for notifications. */
export interface WebhookOptions {
  /** An https URL. Allows http for this machine. */
  url: string
  /** Shared secret that signs the requests: at least 32 random characters. */
  key: string
  /** Milliseconds until the receiver must respond. Default: 15,000. */
  timeoutMs?: number
  /** Retries of a failed request. Default: 5. */
  maxRetries?: number
  /** Sends requests. Default: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>
  /** Logs failed deliveries as `webhookFailed`. Default: none. */
  logger?: Logger | false
}

const webhookOptions = optionsOf<WebhookOptions>({
  url: required(aText),
  key: required(signingKey),
  timeoutMs: aPositiveNumber,
  maxRetries: wholeFrom(0),
  fetch: aFunction,
  logger: aLogger,
})

/** Notification handlers to pass as `onWaiting` and `onEnd`. */
export interface Webhook {
  (notice: SessionNotice): Promise<void>
  /** Resolves when no delivery is in flight. */
  settled(): Promise<void>
}

/** Maximum deliveries in flight. Drops further deliveries, so that an unavailable receiver cannot exhaust the memory. */
const maxOnTheWay = 100
const answerMs = 15_000

/**
 * Creates handlers that send signed notifications to a URL. Pass them to a host as `onWaiting` and `onEnd`.
 *
 * **Contract**
 * - Sends a `POST` request with the notification as JSON. The `phi-signature` header is `t=<seconds>,v1=<hex>`: the HMAC-SHA256 of
 *   `<seconds>.<body>` with `key`. `readWebhook` verifies it.
 * - The body contains no call arguments and no conversation text. An authorized receiver can read them from the session.
 * - Any status from 200 to 299 acknowledges. Retries after 408, 425, 429, 5xx and network errors, after a random wait of up to 1, 2, 4, 8
 *   and 16 seconds; respects `Retry-After`. Does not follow redirects, because they would leak the signature.
 * - Never rejects, and the host does not wait for deliveries. Logs failed deliveries. The queue is in memory, so await `settled` before the
 *   process ends.
 * - Allows at most 100 deliveries in flight and drops further deliveries.
 * - Throws `ConfigError` `invalidOption` if the URL is not https or the key is too short.
 *
 * Source: docs/guides/deploy.md
 */
export function webhook(options: WebhookOptions): Webhook {
  checkOptions(options, webhookOptions)
  assertAddress(options.url)
  const open = new Set<Promise<void>>()
  const send = (notice: SessionNotice): Promise<void> => {
    if (open.size >= maxOnTheWay) return fail(options, notice, `${maxOnTheWay} deliveries are already in flight`)
    const sending = deliver(options, notice).finally(() => open.delete(sending))
    open.add(sending)
    return sending
  }
  return Object.assign(send, {
    settled: async () => {
      await Promise.all(open)
    },
  })
}

function assertAddress(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))
  if (isSafe && url?.username === '' && url.password === '') return
  throw new ConfigError('invalidOption', 'url of webhook must be an https URL without credentials. On this machine, http is also allowed.')
}

async function deliver(options: WebhookOptions, notice: SessionNotice): Promise<void> {
  const { maxRetries = 5 } = options
  const body = webhookBody(notice)
  for (let attempt = 1; ; attempt++) {
    const refusal = await tryOnce(options, body)
    if (refusal === undefined) return
    if (!refusal.mayPass || attempt > maxRetries) return fail(options, notice, refusal.reason)
    await delay(retryDelayMs(attempt, { ...defaultRetry, maxRetries }, refusal.retryAfterMs))
  }
}

interface Refusal {
  reason: string
  /** Whether a retry may succeed. */
  mayPass: boolean
  retryAfterMs?: number
}

async function tryOnce(options: WebhookOptions, body: string): Promise<Refusal | undefined> {
  const { url, key, timeoutMs = answerMs, fetch: ask = (request) => fetch(request) } = options
  try {
    const headers = { 'content-type': 'application/json', [signatureHeader]: await signedNow(body, key) }
    // `AbortSignal.timeout` rejects fractions and values beyond the timer range.
    const signal = AbortSignal.timeout(Math.ceil(timerMs(timeoutMs)))
    const {
      status,
      ok,
      headers: responseHeaders,
      body: rest,
    } = await ask(new Request(url, { method: 'POST', headers, body, signal, redirect: 'manual' }))
    await rest?.cancel()
    if (ok) return undefined
    const retryAfterMs = retryAfterIn(responseHeaders.get('retry-after'), Date.now())
    const mayPass = status >= 500 || [408, 425, 429].includes(status)
    return { reason: `HTTP status ${status}`, mayPass, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  } catch (error) {
    return { reason: errorText(error), mayPass: true }
  }
}

async function fail({ url, logger }: WebhookOptions, { type, id, sessionId }: SessionNotice, reason: string): Promise<void> {
  logWarning(logger, 'webhookFailed', { host: new URL(url).host, type, id, sessionId, reason })
}
