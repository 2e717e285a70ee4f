import type { SessionAddress } from '../access/authorize.ts'

/** A scheduled prompt. Plain JSON. */
export interface ScheduledPrompt {
  id: string
  prompt: string
  /** The next time, epoch milliseconds. */
  at: number
  /** Milliseconds between repetitions. Absent: sent once. */
  everyMs?: number
}

/** A scheduled prompt with its session. */
export interface ScheduleEntry extends ScheduledPrompt {
  address: SessionAddress
}

/**
 * Stores scheduled prompts. `memorySchedules` keeps them in this process, `fileSchedules` of `phi-core/node` in a file;
 * `LiveSessionObject` has its own.
 *
 * **Contract**
 * - A promise resolves when the change is durable, as far as the store promises.
 * - `move` is atomic: of several processes that try the same move, one gets `true`. So each prompt is sent once.
 *
 * Source: docs/guides/deploy.md
 */
export interface ScheduleStore {
  /** Milliseconds between checks for entries of other processes. Absent: only this process writes. */
  readonly lookMs?: number
  add(entry: ScheduleEntry): Promise<void>
  /** Lists the prompts of one session, the next first. */
  list(address: SessionAddress): Promise<ScheduleEntry[]>
  /** Lists up to 100 prompts that were due at `now`, the oldest first. */
  due(now: number): Promise<ScheduleEntry[]>
  /** Epoch milliseconds of the next prompt; `undefined` without any. */
  nextAt(): Promise<number | undefined>
  /** Moves an entry to `to`, or removes it without `to`, if it still exists with the same time. */
  move(entry: ScheduleEntry, to: number | undefined): Promise<boolean>
  /** Deletes the prompts of a session, or one of them. Resolves with whether any existed. */
  delete(address: SessionAddress, id?: string): Promise<boolean>
}

/** A list of all entries in some storage. */
export interface ScheduleBook {
  read(): Promise<readonly ScheduleEntry[]>
  /** Resolves once it is durable. */
  write(entries: readonly ScheduleEntry[]): Promise<void>
}

/** Limit of prompts returned by `due`. */
export const dueAtOnce = 100

/** Creates a store over a list that one process reads and writes as a whole. Suitable for some thousand entries. */
export function bookSchedules(book: ScheduleBook): ScheduleStore {
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <Value>(act: () => Promise<Value>): Promise<Value> => {
    const done = turn.then(act)
    turn = done.catch(() => undefined)
    return done
  }
  const byTime = async () => (await book.read()).toSorted((one, other) => one.at - other.at)
  /** Replaces each entry with the result of `change`; resolves with whether any has changed. */
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
