import type { MessageInput } from '../../../../src/contract/message/message.ts'
import { isReport } from '../../../../src/contract/message/message.ts'
import {
  type Agent,
  type AgentEvent,
  type AgentMessage,
  type AgentRun,
  type Receipt,
  type RunStatus,
  textOf,
  userMessage,
} from '../../../../src/index.ts'

/** Callbacks for the runs of a session. */
export interface RunsListener {
  begun(): void
  event(run: AgentRun, event: AgentEvent): void
  /** A user sent this from a browser. */
  promptedElsewhere(text: string): void
  ended(): void
  fail(error: unknown): void
}

/** The runs of the open session, one at a time: those of this terminal, and those of a browser. */
export class SessionRuns {
  readonly #on: RunsListener
  /** Messages that no run has received yet. */
  readonly #ownMessageIds = new Set<string>()
  #unfollow: () => void = () => undefined
  #current: AgentRun | undefined
  #isStopping = false
  #lastStatus: RunStatus | undefined

  constructor(on: RunsListener) {
    this.#on = on
  }

  /** The run that is on. */
  get current(): AgentRun | undefined {
    return this.#current
  }

  /** Outcome of the last run. */
  get lastStatus(): RunStatus | undefined {
    return this.#lastStatus
  }

  /** From now on the session is that of this agent. */
  follow(agent: Agent): void {
    this.#unfollow()
    this.#unfollow = agent.subscribe((event) => {
      const { currentRun } = agent
      if (event.type === 'agentStart' && this.#current === undefined && currentRun !== undefined) this.begin(currentRun)
      if (this.#current !== undefined) this.#heard(this.#current, event)
    })
    if (agent.currentRun !== undefined) this.begin(agent.currentRun)
  }

  /** Follows a run to its end. */
  begin(run: AgentRun): void {
    this.#current = run
    this.#isStopping = false
    run.result
      .then(
        () => undefined,
        (error: unknown) => this.#on.fail(error),
      )
      .finally(() => this.#finish(run))
    this.#on.begun()
  }

  /** Sends a prompt. */
  say(agent: Agent, input: string | MessageInput): void {
    this.begin(agent.send(this.#mine(input)))
  }

  /** Sends a message to the current run. */
  steer(run: AgentRun, input: string | MessageInput): Receipt {
    return run.steer(this.#mine(input))
  }

  /** Stops the current run; false without one, or if it is already stopping. */
  stop(): boolean {
    if (this.#current === undefined || this.#isStopping) return false
    this.#isStopping = true
    this.#current.abort()
    return true
  }

  /** Creates a message with an id, to recognize it when the run receives it. */
  #mine(input: string | MessageInput): MessageInput {
    const id = crypto.randomUUID()
    this.#ownMessageIds.add(id)
    return { ...(typeof input === 'string' ? userMessage(input) : input), id }
  }

  #heard(run: AgentRun, event: AgentEvent): void {
    if (event.type === 'messageEnd' && !this.#ownMessageIds.delete(event.messageId)) this.#other(event.message)
    this.#on.event(run, event)
    if (event.type !== 'agentEnd') return
    this.#lastStatus = event.status
    this.#finish(run)
  }

  #other(message: AgentMessage): void {
    const text = message.role === 'user' && !isReport(message) ? textOf(message.content) : ''
    if (text !== '') this.#on.promptedElsewhere(text)
  }

  #finish(run: AgentRun): void {
    if (this.#current !== run) return
    this.#current = undefined
    this.#on.ended()
  }
}
