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

/** Callbacks for a session's runs. */
export interface RunsListener {
  begun(): void
  event(run: AgentRun, event: AgentEvent): void
  /** Called when a user sent a message from a browser. */
  promptedElsewhere(text: string): void
  ended(): void
  fail(error: unknown): void
}

/** Runs of the open session, one at a time, from this terminal and from a browser. */
export class SessionRuns {
  readonly #on: RunsListener
  /** Undelivered messages. */
  readonly #ownMessageIds = new Set<string>()
  #unfollow: () => void = () => undefined
  #current: AgentRun | undefined
  #isStopping = false
  #lastStatus: RunStatus | undefined

  constructor(on: RunsListener) {
    this.#on = on
  }

  /** The active run. */
  get current(): AgentRun | undefined {
    return this.#current
  }

  /** The last run's outcome. */
  get lastStatus(): RunStatus | undefined {
    return this.#lastStatus
  }

  /** Switches to this agent's session. */
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

  /** Stops the current run. Returns false if there is none or it is already stopping. */
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
