import { ConfigError } from '../../../src/index.ts'
import type { SessionAddress } from '../access/authorize.ts'
import type { ScheduledPrompt, ScheduleEntry, ScheduleStore } from './schedule-store.ts'

/** Maximum prompts per session, so that one caller cannot fill the server. */
export const maxOfSession = 50
/** Minimum interval in milliseconds. */
const shortestMs = 60_000
/** Maximum time ahead in milliseconds: ten years. */
const furthestMs = 10 * 365 * 86_400_000

/**
 * The scheduled prompts of one session.
 *
 * **Contract**
 * - A promise resolves when the change is recorded. Throws `ConfigError` `invalidOption` for an empty prompt, a time more than ten years
 *   ahead, or an interval below a minute. Also throws it for more than 50 prompts in a session.
 *
 * Source: docs/guides/deploy.md
 */
export class SessionSchedules {
  readonly #store: ScheduleStore
  readonly #address: SessionAddress
  readonly #changed: () => Promise<void>

  /** Calls `changed` after adding a prompt, so that the caller can reset its timer. */
  constructor(store: ScheduleStore, address: SessionAddress, changed: () => Promise<void>) {
    this.#store = store
    this.#address = address
    this.#changed = changed
  }

  /** Schedules `prompt` once. A past time means now. Does nothing if the `id` already exists. */
  runAt(time: Date | number, prompt: string, { id }: { id?: string | undefined } = {}): Promise<ScheduledPrompt> {
    return this.#add({ prompt, at: Number(time) }, id)
  }

  /**
   * Schedules `prompt` every `everyMs` milliseconds, starting after one interval or at `from`. Merges occurrences that were missed while no
   * process ran into one.
   */
  every(
    everyMs: number,
    prompt: string,
    { from = Date.now() + everyMs, id }: { from?: Date | number; id?: string | undefined } = {},
  ): Promise<ScheduledPrompt> {
    return this.#add({ prompt, at: Number(from), everyMs }, id)
  }

  /** Lists the prompts in chronological order. */
  async list(): Promise<ScheduledPrompt[]> {
    return (await this.#store.list(this.#address)).map(shown)
  }

  /** Deletes one prompt, or all prompts without an id. Resolves with whether any existed. */
  delete(id?: string): Promise<boolean> {
    return this.#store.delete(this.#address, id)
  }

  async #add(given: Omit<ScheduledPrompt, 'id'>, id: string = crypto.randomUUID()): Promise<ScheduledPrompt> {
    const all = await this.list()
    const known = all.find((each) => each.id === id)
    if (known !== undefined) return known
    const fault =
      faultOf(given) ?? (all.length >= maxOfSession ? `A session has at most ${maxOfSession} schedules. Delete one.` : undefined)
    if (fault !== undefined) throw new ConfigError('invalidOption', fault)
    const entry = { ...given, id, address: this.#address }
    await this.#store.add(entry)
    await this.#changed()
    return shown(entry)
  }
}

/** Returns the reason why a schedule is invalid, as a message for users. */
export function faultOf({ prompt, at, everyMs }: { prompt: unknown; at: unknown; everyMs?: unknown }): string | undefined {
  if (typeof prompt !== 'string' || prompt.trim() === '') return 'prompt must be a non-empty string.'
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0 || at > Date.now() + furthestMs)
    return 'at must be a time in milliseconds since 1970, at most ten years from now.'
  if (everyMs === undefined) return undefined
  if (typeof everyMs === 'number' && Number.isSafeInteger(everyMs) && everyMs >= shortestMs && everyMs <= furthestMs) return undefined
  return `everyMs must be a whole number from ${shortestMs}, a minute.`
}

function shown({ address: _, ...scheduled }: ScheduleEntry): ScheduledPrompt {
  return scheduled
}
