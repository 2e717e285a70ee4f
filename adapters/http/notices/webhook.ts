import { aLogger } from '../../../src/base/argument-checks.ts'
import { retryAfterIn } from '../../../src/base/http-answer.ts'
import { logWarning } from '../../../src/base/log-warning.ts'
import { isLoopbackHost } from '../../../src/base/private-host.ts'
import { retryDelayMs, startTimer, timerMs } from '../../../src/base/timer.ts'
import { errorText } from '../../../src/contract/errors.ts'
import { defaultRetry } from '../../../src/contract/run/settings.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFunction, aPositiveNumber, aText, options as optionsOf, required, wholeFrom } from '../../../src/contract/shape/shape.ts'
import { ConfigError, type Logger } from '../../../src/index.ts'
import { signingKey } from '../access/signature.ts'
import type { SessionNotice } from './session-notices.ts'
import { signatureHeader, signedNow, webhookBody } from './webhook-signature.ts'

/** Target and options of notifications. */
export interface WebhookOptions {
  /** An https URL; for this machine also http. */
  url: string
  /** Secret that signs the requests and that the receiver shares: at least 32 random characters. */
  key: string
  /** Milliseconds until the receiver must respond. Default: 15,000. */
  timeoutMs?: number
  /** Retries of a failed request. Default: 5. */
  maxRetries?: number
  /** Default: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>
  /** Receives `webhookFailed` for what could not be delivered. Default: none. */
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

/** Sends notifications: pass its functions as `onWaiting` and `onEnd`. */
export interface Webhook {
  (notice: SessionNotice): Promise<void>
  /** Resolves once nothing is in flight. */
  settled(): Promise<void>
}

/** Requests in flight; further ones are dropped, so that a receiver that is down costs bounded memory. */
const maxOnTheWay = 100
const answerMs = 15_000

/**
 * Creates handlers that send signed notifications to a URL: pass them as `onWaiting` and `onEnd` of a host.
 *
 * **Contract**
 * - `POST` with the notification as JSON. `phi-signature` is `t=<seconds>,v1=<hex>`: HMAC-SHA256 of `<seconds>.<body>` with
 *   `key`. `readWebhook` verifies it.
 * - Contains no arguments of calls and no text of the conversation: the receiver reads them from the session, if it may.
 * - Any status from 200 to 299 acknowledges. Retries after 408, 425, 429, 5xx and network errors, at random times within 1, 2, 4,
 *   8 and 16 seconds; obeys `Retry-After`. Follows no redirects, because they would leak the signature.
 * - Never rejects, and nothing waits for it. Failed deliveries go to `logger`. The queue is in memory: await `settled` before the
 *   process ends.
 * - At most 100 are in flight; further ones are dropped.
 * - Throws `ConfigError` `invalidOption` for a URL that is not https, and for a short key.
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
  throw new ConfigError(
    'invalidOption',
    'url of webhook must be an address of https without a name or password; of this machine also http.',
  )
}

async function deliver(options: WebhookOptions, notice: SessionNotice): Promise<void> {
  const { maxRetries = 5 } = options
  const body = webhookBody(notice)
  for (let attempt = 1; ; attempt++) {
    const refusal = await tryOnce(options, body)
    if (refusal === undefined) return
    if (!refusal.mayPass || attempt > maxRetries) return fail(options, notice, refusal.reason)
    await pass(retryDelayMs(attempt, { ...defaultRetry, maxRetries }, refusal.retryAfterMs))
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
    // `AbortSignal.timeout` refuses fractions and values beyond a timer.
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
    return { reason: `it answered ${status}`, mayPass, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  } catch (error) {
    return { reason: errorText(error), mayPass: true }
  }
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => {
    startTimer(ms, resolve)
  })
}

async function fail({ url, logger }: WebhookOptions, { type, id, sessionId }: SessionNotice, reason: string): Promise<void> {
  logWarning(logger, 'webhookFailed', { host: new URL(url).host, type, id, sessionId, reason })
}
