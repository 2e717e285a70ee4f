import type { Agent, AgentRun, SessionStore } from '../../../src/index.ts'
import { startTimer } from '../../../src/internal.ts'
import { SessionError, type SessionJournal } from '../../../src/session/index.ts'

/**
 * A store whose journals can be cut off all at once, so that a run which ends after that leaves the log as it was.
 *
 * **Contract**
 * - Once revoked, journals refuse what is appended with `conflict`, and open nothing. Everything else goes on.
 */
export class RevocableStore implements SessionStore {
  readonly promises: SessionStore['promises']
  readonly #store: SessionStore
  #isRevoked = false

  constructor(store: SessionStore) {
    this.#store = store
    this.promises = store.promises
  }

  revoke(): void {
    this.#isRevoked = true
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
      append: (...given) => (this.#isRevoked ? Promise.reject(handedOver()) : journal.append(...given)),
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

  #assertNotRevoked(): void {
    if (this.#isRevoked) throw handedOver()
  }
}

function handedOver(): SessionError {
  return new SessionError('conflict', 'This process ends, and has handed the session over.')
}

/** How long a run that waits for a person has to end: it only says so. */
const pauseMs = 2000

/** Resolves when the turn that is on has ended, or what waits for a person is recorded; at the latest when `deadline` aborts. */
export function untilHandedOver(agent: Agent, run: AgentRun, deadline: AbortSignal): Promise<void> {
  const isWaiting = run.pendingApprovals().length > 0
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
