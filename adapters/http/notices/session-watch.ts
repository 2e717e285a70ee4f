import { logWarning } from '../../../src/base/log-warning.ts'
import { startTimer } from '../../../src/base/timer.ts'
import { errorText } from '../../../src/contract/errors.ts'
import type { AgentEvent, Logger, PendingApproval, PendingClientCall, PendingInput, RunStatus } from '../../../src/index.ts'
import type { RunFailure } from '../../../src/loop.ts'
import type { NoticeHandlers, SessionNotice } from './session-notices.ts'

/** How long nobody may be connected until a person counts as gone: longer than a page takes to load again. */
const absenceMs = 3000

/** The events of questions. */
const asks: ReadonlySet<AgentEvent['type']> = new Set(['approvalRequested', 'inputRequested', 'clientCallRequested'])

/** What waits for a person, or for a page of theirs. */
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
  /** What waits now, as far as this process knows. */
  waiting: () => Promise<Waiting>
  /** Whether the session has gone to another process, which tells of it from now on. */
  isElsewhere: () => boolean
}

/** Knows whether a client is connected to a session, and tells the application what somebody should know when none is. */
export class SessionWatch {
  readonly #parts: SessionWatchParts
  #streams = 0
  /** The questions that were told. */
  readonly #told = new Set<string>()
  #loopId = ''
  #stopTimer = (): void => undefined
  #isOver = false

  constructor(parts: SessionWatchParts) {
    this.#parts = parts
  }

  /** A client is connected; returns what to call once it is not. */
  enter(): () => void {
    this.#streams += 1
    this.#stopTimer()
    return () => {
      this.#streams -= 1
      if (this.#streams > 0 || this.#isOver || this.#parts.handlers.onWaiting === undefined) return
      this.#stopTimer = startTimer(absenceMs, () => void this.#tellWaiting())
    }
  }

  /** Nothing more is told: the session leaves the memory. */
  close(): void {
    this.#isOver = true
    this.#stopTimer()
  }

  /** An event of the agent. */
  event(event: AgentEvent): void {
    if (event.type === 'agentStart') this.#loopId = event.loopId
    else if (asks.has(event.type)) void this.#tellWaiting()
    else if (event.type === 'approvalResolved' || event.type === 'inputResolved' || event.type === 'clientCallResolved')
      this.#told.delete(keyOf(event))
    else if (event.type === 'agentEnd') {
      const { loopId, status, error } = event
      if (status === 'paused') void this.#tellWaiting()
      // What a journal has refused is not over: whoever has the session goes on with it.
      else if (error?.code !== 'journal' && !this.#parts.isElsewhere()) this.ended(loopId, { status, ...(error && { error }) })
    }
  }

  /** The end of a run is in the log. */
  ended(loopId: string, outcome: { status: RunStatus; error?: RunFailure }): void {
    this.#told.clear()
    const { onEnd } = this.#parts.handlers
    const { status } = outcome
    if (onEnd === undefined || status === 'paused') return
    this.#call(onEnd, { ...this.#base(loopId), ...outcome, status, type: 'end', id: `${loopId}:end` })
  }

  async #tellWaiting(): Promise<void> {
    const { handlers, waiting } = this.#parts
    if (handlers.onWaiting === undefined) return
    // Several are asked for together: all of them are in one notice.
    const { approvals, inputs, clientCalls } = await waiting()
    const fresh = [...approvals, ...inputs, ...clientCalls].map(keyOf).filter((key) => !this.#told.has(key))
    if (this.#streams > 0 || fresh.length === 0 || this.#parts.isElsewhere()) return
    for (const key of fresh) this.#told.add(key)
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

/** What tells the questions of a session apart. */
function keyOf(question: Pick<PendingApproval, 'toolCallId' | 'subAgent'> & { inputId?: string }): string {
  const { subAgent, toolCallId, inputId } = question
  return inputId ?? (subAgent === undefined ? toolCallId : `${subAgent.loopId}/${toolCallId}`)
}
