import type { SessionAddress } from '../access/authorize.ts'

/** A scheduled prompt. Plain JSON. */
export interface ScheduledPrompt {
  id: string
  prompt: string
  /** Next time to send the prompt, in epoch milliseconds. */
  at: number
  /** Milliseconds between repetitions. Absent for a prompt that is sent once. */
  everyMs?: number
}

/** A scheduled prompt with its session. */
export interface ScheduleEntry extends ScheduledPrompt {
  address: SessionAddress
}

/**
 * Stores scheduled prompts. `memorySchedules` stores them in this process, and `fileSchedules` from `phi-core/node` stores them in a file.
 * `LiveSessionObject` has a built-in store.
 *
 * **Contract**
 * - Promises resolve when the change is durable, according to the store's guarantees.
 * - `move` is atomic: if several processes try the same move, only one gets `true`, so each prompt is sent once.
 *
 * Source: docs/guides/deploy.md
 */
export interface ScheduleStore {
  /** Milliseconds between checks for other processes' entries. Absent if only this process writes. */
  readonly lookMs?: number
  add(entry: ScheduleEntry): Promise<void>
  /** Lists the prompts of one session in chronological order. */
  list(address: SessionAddress): Promise<ScheduleEntry[]>
  /** Lists up to 100 prompts that were due at `now`, oldest first. */
  due(now: number): Promise<ScheduleEntry[]>
  /** Returns the time of the next prompt in epoch milliseconds, or `undefined` if there are none. */
  nextAt(): Promise<number | undefined>
  /** Moves an entry to the time `to`, or removes it if `to` is absent. Changes only an entry that still exists with the same time. */
  move(entry: ScheduleEntry, to: number | undefined): Promise<boolean>
  /** Deletes one of a session's prompts, or all of them. Resolves with `true` if any existed. */
  delete(address: SessionAddress, id?: string): Promise<boolean>
}

/** Storage for a list of all entries. */
export interface ScheduleBook {
  read(): Promise<readonly ScheduleEntry[]>
  /** Resolves once the list is durable. */
  write(entries: readonly ScheduleEntry[]): Promise<void>
}

/** Maximum number of prompts that `due` returns. */
export const dueAtOnce = 100

/** Creates a store backed by a list that one process reads and writes as a whole. Suitable for a few thousand entries. */
export function bookSchedules(book: ScheduleBook): ScheduleStore {
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <Value>(act: () => Promise<Value>): Promise<Value> => {
    const done = turn.then(act)
    turn = done.catch(() => undefined)
    return done
  }
  const byTime = async () => (await book.read()).toSorted((one, other) => one.at - other.at)
  /** Replaces each entry with the result of `change`. Resolves with whether any entry changed. */
  const changed = (change: (entry: ScheduleEntry) => ScheduleEntry | undefined): Promise<boolean> =>
    inTurn(async () => {
      const before = await book.read()
      const after = before.flatMap((entry) => change(entry) ?? [])
      const isOther = after.length !== before.length || after.some((entry, at) => entry !== before[at])
      if (isOther) await book.write(after)
      return isOther
    })
  return {
    add: (entry) => inTurn(async () => book.write([...(await book.read()), entry])),
    list: (address) => inTurn(async () => (await byTime()).filter((entry) => isOf(entry, address))),
    due: (now) => inTurn(async () => (await byTime()).filter(({ at }) => at <= now).slice(0, dueAtOnce)),
    nextAt: () => inTurn(async () => (await byTime())[0]?.at),
    move: (moved, to) =>
      changed((entry) => {
        if (entry.id !== moved.id || entry.at !== moved.at || !isOf(entry, moved.address)) return entry
        return to === undefined ? undefined : { ...entry, at: to }
      }),
    delete: (address, id) => changed((entry) => (isOf(entry, address) && (id === undefined || entry.id === id) ? undefined : entry)),
  }
}

/** Creates a store in memory. Schedules are lost when the process ends. */
export function memorySchedules(): ScheduleStore {
  let entries: readonly ScheduleEntry[] = []
  return bookSchedules({
    read: async () => entries,
    write: async (next) => {
      entries = next
    },
  })
}

function isOf({ address }: ScheduleEntry, { identity, sessionId }: SessionAddress): boolean {
  return address.identity === identity && address.sessionId === sessionId
}
