import { startTimer } from '../../../src/base/timer.ts'
import type { Agent, AgentRun, SessionStore } from '../../../src/index.ts'
import { type JournalRecord, SessionError, type SessionJournal } from '../../../src/session.ts'

/**
 * A store whose journals can be revoked together, so that a run that ends after the handover cannot change the log.
 *
 * **Contract**
 * - Revoked journals reject appends with `conflict`, and can no longer open logs. All other operations still work.
 * - If `moves` is set, revokes the journals when another writer takes over the session.
 */
export class RevocableStore implements SessionStore {
  readonly promises: SessionStore['promises']
  readonly #store: SessionStore
  readonly #moves: boolean
  readonly #revoked = new AbortController()
  /** Key of the next loop. */
  #key: { key: string } | undefined

  constructor(store: SessionStore, { moves = false }: { moves?: boolean } = {}) {
    this.#store = store
    this.#moves = moves
    this.promises = store.promises
  }

  /** Aborts when the store is revoked. */
  get revoked(): AbortSignal {
    return this.#revoked.signal
  }

  revoke(): void {
    this.#revoked.abort(new Error('The run continues in another process. Reconnect.'))
  }

  /** Starts a run with this key. The log records the key with the start of the run's loop. */
  under(key: string, begin: () => AgentRun): AgentRun {
    const given = { key }
    this.#key = given
    // A loop that never starts must not pass its key to the next loop.
    const takeBack = (): void => {
      if (this.#key === given) this.#key = undefined
    }
    try {
      const run = begin()
      run.result.then(takeBack, takeBack)
      return run
    } catch (error) {
      takeBack()
      throw error
    }
  }

  journal(options?: Parameters<SessionStore['journal']>[0]): SessionJournal {
    const journal = this.#store.journal(options)
    const { event } = journal
    return {
      ...(event !== undefined && { event: (each) => event.call(journal, each) }),
      open: async (...given) => {
        this.#assertNotRevoked()
        return journal.open(...given)
      },
      append: (record, conversation) =>
        this.revoked.aborted
          ? Promise.reject(handedOver())
          : journal.append(this.#keyed(record), conversation).catch((error: unknown) => this.#refused(error)),
      media: (...given) => journal.media(...given),
      close: () => journal.close(),
    }
  }

  open(...given: Parameters<SessionStore['open']>) {
    return this.#store.open(...given)
  }

  tail(...given: Parameters<SessionStore['tail']>) {
    return this.#store.tail(...given)
  }

  blob(...given: Parameters<SessionStore['blob']>) {
    return this.#store.blob(...given)
  }

  load(sessionId: string) {
    return this.#store.load(sessionId)
  }

  salvage(sessionId: string) {
    return this.#store.salvage(sessionId)
  }

  save(...given: Parameters<SessionStore['save']>) {
    return this.#store.save(...given)
  }

  rename(...given: Parameters<SessionStore['rename']>) {
    return this.#store.rename(...given)
  }

  delete(sessionId: string) {
    return this.#store.delete(sessionId)
  }

  list(...given: Parameters<SessionStore['list']>) {
    return this.#store.list(...given)
  }

  listIds() {
    return this.#store.listIds()
  }

  listForAgent(agentId: string) {
    return this.#store.listForAgent(agentId)
  }

  #keyed(record: JournalRecord): JournalRecord {
    const [{ entry }, begins] = [record, this.#key]
    if (entry.type !== 'loopStart' || begins === undefined) return record
    this.#key = undefined
    return { ...record, entry: { ...entry, idempotencyKey: begins.key } }
  }

  /** Handles a rejected append. Disconnects the run's readers before the run ends in this process. */
  #refused(error: unknown): never {
    if (this.#moves && SessionError.isInstance(error) && error.code === 'conflict') this.revoke()
    throw error
  }

  #assertNotRevoked(): void {
    if (this.revoked.aborted) throw handedOver()
  }
}

function handedOver(): SessionError {
  return new SessionError('conflict', 'This process is shutting down and has handed over the session.')
}

/** Maximum milliseconds for a waiting run to pause. */
const pauseMs = 2000

/** Resolves when the current turn has ended or the pending calls are recorded, but no later than when `deadline` aborts. */
export function untilHandedOver(agent: Agent, run: AgentRun, deadline: AbortSignal): Promise<void> {
  const isWaiting = run.pendingApprovals().length + run.pendingClientCalls().length > 0
  return new Promise((resolve) => {
    let stopTimer = (): void => undefined
    const done = (): void => {
      leave()
      stopTimer()
      deadline.removeEventListener('abort', late)
      resolve()
    }
    const late = (): void => {
      if (isWaiting) stopTimer = startTimer(pauseMs, done)
      else done()
    }
    const leave = run.subscribe(({ type }) => {
      if (type === 'agentEnd' || (type === 'turnEnd' && !isWaiting)) done()
    })
    deadline.addEventListener('abort', late, { once: true })
    agent.stopAsking()
    if (deadline.aborted) late()
  })
}

/** Milliseconds that a handover may take after the deadline. Longer than `pauseMs`. */
const graceMs = 3000

/** Resolves like `handing`. If `handing` does not settle soon after `deadline`, calls `giveUp` and rejects. */
export function withDeadline(deadline: AbortSignal, handing: Promise<void>, giveUp: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopTimer = (): void => undefined
    const late = (): void => {
      stopTimer = startTimer(graceMs, () => {
        giveUp()
        reject(new Error('Requests to the session did not finish before the deadline and were aborted.'))
      })
    }
    deadline.addEventListener('abort', late, { once: true })
    if (deadline.aborted) late()
    const stop = (): void => {
      deadline.removeEventListener('abort', late)
      stopTimer()
    }
    handing.finally(stop).then(resolve, reject)
  })
}
