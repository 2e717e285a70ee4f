import { combineUsage, contextTokensOf, emptyUsage } from '../../../../src/context/index.ts'
import type { Agent, AgentEvent, Usage } from '../../../../src/index.ts'
import { costOf } from '../render/figures.ts'

/** What a session has used, and how full the model's window is. */
export class Meter {
  #before: Usage = emptyUsage()
  #running: Usage = emptyUsage()
  #context = 0

  /** Begins with what `agent` has said so far. */
  begin({ messages }: Pick<Agent, 'messages'>): void {
    const answers = messages.filter((message) => message.role === 'assistant')
    this.#before = answers.reduce((sum, { usage }) => combineUsage(sum, usage), emptyUsage())
    this.#running = emptyUsage()
    const last = answers.at(-1)
    this.#context = last === undefined ? 0 : contextTokensOf(last.usage)
  }

  event(event: AgentEvent): void {
    if (event.type === 'turnEnd') {
      this.#running = combineUsage(this.#running, event.usage)
      this.#context = contextTokensOf(event.usage) || this.#context
    } else if (event.type === 'compactionEnded') this.#context = event.estimatedTokensAfter
    else if (event.type === 'agentEnd') {
      this.#before = combineUsage(this.#before, event.totalUsage ?? event.usage)
      this.#running = emptyUsage()
    }
  }

  /** Of this session, runs that are on included. */
  get usage(): Usage {
    return combineUsage(this.#before, this.#running)
  }

  /** Tokens that the next prompt takes at least. */
  get context(): number {
    return this.#context
  }

  /** Model, context and cost, as the prompt line shows them. */
  line({
    settings: {
      model: { config },
    },
  }: Pick<Agent, 'settings'>): string {
    const share = `${Math.round((100 * this.#context) / Math.max(1, config.contextWindow))}%`
    return [config.id, share, costOf(this.usage, config.cost)].filter((part) => part !== undefined).join(' · ')
  }
}
