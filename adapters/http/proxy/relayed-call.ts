import type { Context, Env } from 'hono'
import { logWarning } from '../../../src/base/log-warning.ts'
import { timerMs } from '../../../src/base/timer.ts'
import { emptyUsage } from '../../../src/context.ts'
import { errorText } from '../../../src/contract/errors.ts'
import { estimatedCost, type Logger, type Usage } from '../../../src/index.ts'
import { ProblemError, soonMs } from '../access/problem.ts'
import type { Admission } from './budget.ts'
import { type Answer, errorBody, forward, responseHeaders, untilAborted } from './forward.ts'
import type { PathCall } from './protocols.ts'
import { type CallEnding, type Relay, relay } from './relay.ts'
import type { ReadyUpstream } from './upstream.ts'
import { estimatePrompt, estimateUnseen, type UsageMeter, usageMeter } from './usage-meter.ts'

/** Report on a call that has ended. Token counts come from the provider if reported. Otherwise, they are estimates. */
export interface CallReport {
  /** Name that `authorize` returned. Absent for `true`. */
  identity?: string
  upstream: string
  model: string
  /** Status of the response, if any. */
  status?: number
  /** How the response ended: complete, client disconnected, or broken (including by a proxy limit). */
  ending: CallEnding
  usage: Usage
  /** Cost at the upstream's prices. Absent for a model without a price. */
  usd?: number
  /** Forwarded bytes of the response. */
  bytes: number
  durationMs: number
}

/** An accepted call. */
export interface AllowedCall<E extends Env> {
  c: Context<E>
  upstream: ReadyUpstream<E>
  path: PathCall
  model: string
  body: string
  admission: Admission
  identity: string | undefined
}

/** Options for calls. */
export interface CallOptions {
  fetch: typeof fetch
  firstByteTimeoutMs: number
  idleTimeoutMs: number
  maxDurationMs: number
  onCall: ((report: CallReport) => void) | undefined
  logger: Logger | false | undefined
}

/**
 * Sends a call and forwards its response.
 *
 * **Contract**
 * - The call ends with its response, when its client disconnects, or on timeout. Then settles the call once, and closes its timers,
 *   listeners and connections.
 * - Forwards a response with an error status as at most 64 KiB of text without the key. Throws `ProblemError` if there is no response.
 */
export function relayCall<E extends Env>(call: AllowedCall<E>, options: CallOptions): Promise<Response> {
  return new RelayedCall(call, options).run()
}

class RelayedCall<E extends Env> {
  readonly #call: AllowedCall<E>
  readonly #options: CallOptions
  readonly #aborter = new AbortController()
  readonly #startedAt = performance.now()
  readonly #client: AbortSignal
  readonly #longest: ReturnType<typeof setTimeout>
  #relay: Relay | undefined
  #meter: UsageMeter | undefined
  #status: number | undefined
  /** Whether the client disconnected or the call timed out. */
  #isGivenUp = false
  #isSettled = false
  #bytes = 0
  #waitedMs = 0

  constructor(call: AllowedCall<E>, options: CallOptions) {
    this.#call = call
    this.#options = options
    this.#client = call.c.req.raw.signal
    this.#client.addEventListener('abort', this.#onClientDisconnect)
    this.#longest = setTimeout(() => this.#outOfTime('maxDurationMs'), timerMs(options.maxDurationMs))
  }

  async run(): Promise<Response> {
    const { firstByteTimeoutMs } = this.#options
    const silent = setTimeout(() => this.#outOfTime('firstByteTimeoutMs'), timerMs(firstByteTimeoutMs))
    try {
      if (this.#client.aborted) this.#onClientDisconnect()
      const { c, upstream, path, body } = this.#call
      const { signal } = this.#aborter
      const answer = await untilAborted(forward({ c, upstream, path, body, fetch: this.#options.fetch, signal }), signal)
      this.#status = answer.response.status
      return this.#status >= 400 ? await this.#failed(answer) : this.#passedOn(answer)
    } catch (error) {
      this.#settle(this.#client.aborted ? 'left' : 'broken')
      throw error
    } finally {
      clearTimeout(silent)
    }
  }

  async #failed(answer: Answer): Promise<Response> {
    const text = await errorBody(answer, this.#aborter.signal)
    this.#bytes = text.length
    this.#settle('whole')
    return new Response(text, { status: answer.response.status, headers: responseHeaders(answer.response.headers, answer.secrets) })
  }

  #passedOn({ response, secrets }: Answer): Response {
    const { upstream, body } = this.#call
    const headers = responseHeaders(response.headers, secrets)
    if (response.body === null) {
      this.#settle('whole')
      return new Response(null, { status: response.status, headers })
    }
    const meter = usageMeter(upstream.api, response.headers.get('content-type') ?? '', estimatePrompt(body))
    this.#meter = meter
    this.#relay = relay(response.body, {
      secrets: secrets.filter((secret) => secret.length >= minStreamSecret),
      firstByteTimeoutMs: Math.max(1, this.#options.firstByteTimeoutMs - (performance.now() - this.#startedAt)),
      idleTimeoutMs: this.#options.idleTimeoutMs,
      onChunk: (bytes, text) => {
        this.#bytes += bytes.byteLength
        meter.take(bytes, text)
      },
      onEnd: (ending, waitedMs, why) => {
        const hasLeft = this.#client.aborted
        if (why !== undefined && !hasLeft) logWarning(this.#options.logger, 'answerBroken', { upstream: upstream.name, why })
        this.#waitedMs = waitedMs
        this.#settle(ending === 'broken' && hasLeft ? 'left' : ending)
      },
    })
    return new Response(this.#relay.body, { status: response.status, headers })
  }

  readonly #onClientDisconnect = (): void => {
    this.#isGivenUp = true
    this.#aborter.abort(over('The client disconnected.'))
    this.#relay?.cut('the client disconnected')
  }

  #outOfTime(limit: 'firstByteTimeoutMs' | 'maxDurationMs'): void {
    this.#isGivenUp = true
    const why = `no response after ${this.#options[limit]} ms (${limit})`
    const detail = `${this.#call.upstream.name} sent ${why}. Retry later.`
    this.#aborter.abort(new ProblemError({ status: 504, code: 'upstreamTimedOut', detail }))
    this.#relay?.cut(`it took longer than ${this.#options[limit]} ms (${limit})`)
  }

  /** Releases all resources immediately, then charges the usage. */
  #settle(ending: CallEnding): void {
    if (this.#isSettled) return
    this.#isSettled = true
    clearTimeout(this.#longest)
    this.#client.removeEventListener('abort', this.#onClientDisconnect)
    if (ending !== 'whole') this.#aborter.abort(over('The call has ended.'))
    const report = this.#report(ending)
    const { usage, usd = 0, bytes } = report
    const settled = this.#call.admission.settle({ tokens: usage.totalTokens, usd, bytes }).catch(() => {
      logWarning(this.#options.logger, 'budgetNotCounted', { upstream: report.upstream, model: report.model, tokens: usage.totalTokens })
    })
    this.#keepAlive(settled)
    try {
      this.#options.onCall?.(report)
    } catch (error) {
      logWarning(this.#options.logger, 'onCallFailed', { message: errorText(error) })
    }
  }

  #report(ending: CallEnding): CallReport {
    const { identity, upstream, model } = this.#call
    const usage = this.#usage(ending)
    const price = upstream.priceOf(model)
    return {
      ...(identity !== undefined && { identity }),
      upstream: upstream.name,
      model,
      ...(this.#status !== undefined && { status: this.#status }),
      ending,
      usage,
      ...(price !== undefined && { usd: estimatedCost(usage, price) }),
      bytes: this.#bytes,
      durationMs: performance.now() - this.#startedAt,
    }
  }

  /** Returns the usage. For an abandoned call, counts the prompt and the elapsed time. A rejected call is free. */
  #usage(ending: CallEnding): Usage {
    if (this.#meter !== undefined) return this.#meter.used(ending === 'whole', this.#waitedMs)
    const isFree = this.#status !== undefined || !this.#isGivenUp
    if (isFree) return emptyUsage()
    const [input, output] = [estimatePrompt(this.#call.body), estimateUnseen(performance.now() - this.#startedAt)]
    return { ...emptyUsage(), input, output, totalTokens: input + output }
  }

  /** Keeps the Worker alive until the usage is settled. */
  #keepAlive(settled: Promise<void>): void {
    try {
      this.#call.c.executionCtx.waitUntil(settled)
    } catch {
      // Ignore the error: other platforms have no execution context.
    }
  }
}

/** Minimum length of a key to search for in a response. Shorter keys are placeholders that a response may contain. */
const minStreamSecret = 16

/** Creates the abort reason for an ended call. Clients never see it. */
function over(detail: string): ProblemError {
  return new ProblemError({ status: 503, code: 'unavailable', detail, retryAfterMs: soonMs })
}
