import type { SessionAddress } from '../access/authorize.ts'

/** A prompt that is said later. Plain JSON. */
export interface ScheduledPrompt {
  id: string
  prompt: string
  /** When it is due next, epoch ms. */
  at: number
  /** Milliseconds from one time to the next. Absent: it is said once. */
  everyMs?: number
}

/** The same, and to which session it is said. */
export interface ScheduleEntry extends ScheduledPrompt {
  address: SessionAddress
}

/**
 * Where scheduled prompts are recorded. `memorySchedules` keeps them in this process, `fileSchedules` of `phi-core/node` in a file;
 * `LiveSessionObject` has its own.
 *
 * **Contract**
 * - When a promise resolves, the change is durable, as far as the store promises.
 * - `move` is one step: of any number of processes that try the same, one is told `true`. So each time is taken once.
 *
 * Source: docs/guides/deploy.md
 */
export interface ScheduleStore {
  /** Where other processes write to it too: milliseconds after which it is looked at again. Absent: only when something is due that this process knows of. */
  readonly lookMs?: number
  add(entry: ScheduleEntry): Promise<void>
  /** Those of one session, the next one first. */
  list(address: SessionAddress): Promise<ScheduleEntry[]>
  /** Those that were due at `now`, the oldest first, 100 at most. */
  due(now: number): Promise<ScheduleEntry[]>
  /** When the next one of all is due, epoch ms; undefined without any. */
  nextAt(): Promise<number | undefined>
  /** Puts `to` in place of `entry.at`, or takes the entry out without it, if the entry is still there and due when the caller knows. */
  move(entry: ScheduleEntry, to: number | undefined): Promise<boolean>
  /** Takes out those of a session, or one of them; resolves with whether there was any. */
  delete(address: SessionAddress, id?: string): Promise<boolean>
}

/** A list of all entries, as some medium keeps it. */
export interface ScheduleBook {
  read(): Promise<readonly ScheduleEntry[]>
  /** Resolves once it is durable. */
  write(entries: readonly ScheduleEntry[]): Promise<void>
}

/** So many of those that are due are given at a time. */
export const dueAtOnce = 100

/** A store over a list that one process reads and writes as a whole: for some thousand entries. */
export function bookSchedules(book: ScheduleBook): ScheduleStore {
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <Value>(act: () => Promise<Value>): Promise<Value> => {
    const done = turn.then(act)
    turn = done.catch(() => undefined)
    return done
  }
  const byTime = async () => (await book.read()).toSorted((one, other) => one.at - other.at)
  /** Keeps those that `change` gives for each; whether any is another one. */
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

/** Scheduled prompts in this process: they end with it. For tests, and where the process is all there is. */
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
