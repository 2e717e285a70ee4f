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

/** The fields of a loop that its log uses. */
interface LoggedLoop {
  readonly config: Pick<LoopConfig, 'logger'>
  readonly events: { readonly loopId: string }
  readonly turn: Pick<TurnSetup, 'model'>
  readonly stop: AbortScope
}

/** Logs one loop's warnings and errors, with API keys redacted. */
export class RunLog {
  /** API keys that the loop's model calls used. */
  readonly keys = new KnownSecrets()
  readonly #loop: LoggedLoop
  readonly #logged = new Set<string>()

  constructor(loop: LoggedLoop) {
    this.#loop = loop
  }

  /** Logs a warning. A failing logger never affects the run. */
  warn(event: string, fields: JsonObject): void {
    const { config, events } = this.#loop
    logWarning(config.logger, event, { loopId: events.loopId, ...fields }, this.#secrets())
  }

  /** Logs a warning once per run. */
  warnOnce(event: string, message: string): void {
    if (this.#logged.has(message)) return
    this.#logged.add(message)
    this.warn(event, { message })
  }

  /** Logs a failure that does not affect the run. Ignores aborts. */
  warnFailed(event: string, error: unknown): void {
    if (!this.#loop.stop.aborted) this.warn(event, { ...toRunFailure(error) })
  }

  /** Returns an error as data, with this run's API keys redacted. */
  failureOf(error: unknown): RunFailure {
    const { message, cause, ...failure } = toRunFailure(error)
    // Validate the field, because only a ProviderError has typed rate limits.
    const { limits } = Object(error)
    if (fits(rateLimits, limits)) failure.limits = limits
    const shown = { ...failure, message: this.withoutSecrets(message) }
    return cause === undefined ? shown : { ...shown, cause: { ...cause, message: this.withoutSecrets(cause.message) } }
  }

  /** Redacts this run's keys in text for the model, events and records. */
  withoutSecrets(text: string): string {
    return withoutSecret(text, this.#secrets())
  }

  /** Collects the API keys to redact. Called only after a failure. */
  #secrets(): readonly string[] {
    const { turn, stop } = this.#loop
    const { config, secrets, credentials } = turn.model
    // A fixed key is known before the first call.
    const fixed = credentials !== undefined && 'isStatic' in credentials ? credentials.current(stop.signal) : undefined
    const others = [...secretsIn(config.baseUrl, config.headers), ...(secrets?.() ?? [])]
    return this.keys.with(typeof fixed === 'string' ? [...others, fixed] : others)
  }
}
