import { logWarning } from '../../../src/base/log-warning.ts'
import { startTimer } from '../../../src/base/timer.ts'
import { errorText } from '../../../src/contract/errors.ts'
import type { AgentEvent, Logger, PendingApproval, PendingClientCall, PendingInput, RunStatus } from '../../../src/index.ts'
import type { RunFailure } from '../../../src/loop.ts'
import type { NoticeHandlers, SessionNotice } from './session-notices.ts'

/** Milliseconds without a client until the user counts as absent. Longer than a page reload. */
const absenceMs = 3000

/** Events of pending calls. */
const asks: ReadonlySet<AgentEvent['type']> = new Set(['approvalRequested', 'inputRequested', 'clientCallRequested'])

/** Pending calls. */
interface Waiting {
  approvals: readonly PendingApproval[]
  inputs: readonly PendingInput[]
  clientCalls: readonly PendingClientCall[]
}

interface SessionWatchParts {
  sessionId: string
  identity: string | undefined
  handlers: NoticeHandlers
  logger: Logger | false | undefined
  /** Returns the pending calls known to this process. */
  waiting: () => Promise<Waiting>
  /** Whether another process owns the session and sends its notifications. */
  isElsewhere: () => boolean
}

/** Tracks connected clients of a session and notifies the application if none is connected. */
export class SessionWatch {
  readonly #parts: SessionWatchParts
  #streams = 0
  /** Requests that the application was already notified of. */
  readonly #notified = new Set<string>()
  #loopId = ''
  #stopTimer = (): void => undefined
  #isOver = false

  constructor(parts: SessionWatchParts) {
    this.#parts = parts
  }

  /** Registers a connected client. Returns a function that unregisters it. */
  enter(): () => void {
    this.#streams += 1
    this.#stopTimer()
    return () => {
      this.#streams -= 1
      if (this.#streams > 0 || this.#isOver || this.#parts.handlers.onWaiting === undefined) return
      this.#stopTimer = startTimer(absenceMs, () => void this.#tellWaiting())
    }
  }

  /** Stops notifications when the session is evicted. */
  close(): void {
    this.#isOver = true
    this.#stopTimer()
  }

  /** Handles an event of the agent. */
  event(event: AgentEvent): void {
    if (event.type === 'agentStart') this.#loopId = event.loopId
    else if (asks.has(event.type)) void this.#tellWaiting()
    else if (event.type === 'approvalResolved' || event.type === 'inputResolved' || event.type === 'clientCallResolved')
      this.#notified.delete(keyOf(event))
    else if (event.type === 'agentEnd') {
      const { loopId, status, error } = event
      if (status === 'paused') void this.#tellWaiting()
      // A run that the journal rejected continues in another process, so it has not ended.
      else if (error?.code !== 'journal' && !this.#parts.isElsewhere()) this.ended(loopId, { status, ...(error && { error }) })
    }
  }

  /** Handles the recorded end of a run. */
  ended(loopId: string, outcome: { status: RunStatus; error?: RunFailure }): void {
    this.#notified.clear()
    const { onEnd } = this.#parts.handlers
    const { status } = outcome
    if (onEnd === undefined || status === 'paused') return
    this.#call(onEnd, { ...this.#base(loopId), ...outcome, status, type: 'end', id: `${loopId}:end` })
  }

  async #tellWaiting(): Promise<void> {
    const { handlers, waiting } = this.#parts
    if (handlers.onWaiting === undefined) return
    // Send one notification for several simultaneous requests.
    const { approvals, inputs, clientCalls } = await waiting()
    const fresh = [...approvals, ...inputs, ...clientCalls].map(keyOf).filter((key) => !this.#notified.has(key))
    if (this.#streams > 0 || fresh.length === 0 || this.#parts.isElsewhere()) return
    for (const key of fresh) this.#notified.add(key)
    const id = `${this.#loopId}:waiting:${fresh.toSorted().join(',')}`
    this.#call(handlers.onWaiting, { ...this.#base(this.#loopId), type: 'waiting', id, approvals, inputs, clientCalls })
  }

  #base(loopId: string): Pick<SessionNotice, 'at' | 'sessionId' | 'identity' | 'loopId'> {
    const { sessionId, identity } = this.#parts
    return { at: Date.now(), sessionId, ...(identity !== undefined && { identity }), loopId }
  }

  #call<Notice extends SessionNotice>(handler: (notice: Notice) => void | Promise<void>, notice: Notice): void {
    const failed = (error: unknown) => {
      logWarning(this.#parts.logger, 'noticeFailed', { sessionId: notice.sessionId, type: notice.type, message: errorText(error) })
    }
    try {
      void Promise.resolve(handler(notice)).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}

/** Returns a request's key, unique within a session. */
function keyOf(question: Pick<PendingApproval, 'toolCallId' | 'subAgent'> & { inputId?: string }): string {
  const { subAgent, toolCallId, inputId } = question
  return inputId ?? (subAgent === undefined ? toolCallId : `${subAgent.loopId}/${toolCallId}`)
}
