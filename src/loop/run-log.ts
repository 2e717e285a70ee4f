import type { AbortScope } from '../base/abort.ts'
import { logWarning } from '../base/log-warning.ts'
import { KnownSecrets, withoutSecret } from '../base/text/redact.ts'
import { secretsIn } from '../base/text/secrets.ts'
import { toRunFailure } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { rateLimits } from '../contract/model/usage.ts'
import type { RunFailure } from '../contract/run/run-facts.ts'
import { fits } from '../contract/shape/read.ts'
import type { LoopConfig } from './loop-config.ts'
import type { TurnSetup } from './turn/turn-setup.ts'

/** The loop as its log needs it. */
interface LoggedLoop {
  readonly config: Pick<LoopConfig, 'logger'>
  readonly events: { readonly loopId: string }
  readonly turn: Pick<TurnSetup, 'model'>
  readonly stop: AbortScope
}

/** What one loop says of itself, to its logger and in errors: never with a key. */
export class RunLog {
  /** The keys of its model calls. */
  readonly keys = new KnownSecrets()
  readonly #loop: LoggedLoop
  readonly #logged = new Set<string>()

  constructor(loop: LoggedLoop) {
    this.#loop = loop
  }

  /** Logs a warning; a broken logger never disturbs the run. */
  warn(event: string, fields: JsonObject): void {
    const { config, events } = this.#loop
    logWarning(config.logger, event, { loopId: events.loopId, ...fields }, this.#secrets())
  }

  /** Logs a warning the first time this run meets it. */
  warnOnce(event: string, message: string): void {
    if (this.#logged.has(message)) return
    this.#logged.add(message)
    this.warn(event, { message })
  }

  /** Logs that something failed which the run can do without; an abort is no failure. */
  warnFailed(event: string, error: unknown): void {
    if (!this.#loop.stop.aborted) this.warn(event, { ...toRunFailure(error) })
  }

  /** What failed, as data, without the keys of this run. */
  failureOf(error: unknown): RunFailure {
    const { message, cause, ...failure } = toRunFailure(error)
    // Of a ProviderError; one of an application may hold anything.
    const { limits } = Object(error)
    if (fits(rateLimits, limits)) failure.limits = limits
    const shown = { ...failure, message: this.withoutSecrets(message) }
    return cause === undefined ? shown : { ...shown, cause: { ...cause, message: this.withoutSecrets(cause.message) } }
  }

  /** What was thrown by code of others, as the model, events and records may see it: without the keys of this run. */
  withoutSecrets(text: string): string {
    return withoutSecret(text, this.#secrets())
  }

  /** Looked up when something failed. */
  #secrets(): readonly string[] {
    const { turn, stop } = this.#loop
    const { config, secrets, credentials } = turn.model
    // A fixed key is known before the first call.
    const fixed = credentials !== undefined && 'isStatic' in credentials ? credentials.current(stop.signal) : undefined
    const others = [...secretsIn(config.baseUrl, config.headers), ...(secrets?.() ?? [])]
    return this.keys.with(typeof fixed === 'string' ? [...others, fixed] : others)
  }
}
