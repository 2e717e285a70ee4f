import { combineUsage, contextTokensOf, emptyUsage } from '../../../../src/context/index.ts'
import { type Agent, type AgentEvent, type CostConfig, estimatedCost, type Usage } from '../../../../src/index.ts'
import { hasRates, usageBeyond } from '../../../../src/internal.ts'
import { dollars } from '../render/figures.ts'

/** What a session has used, and how full the model's window is. */
export class Meter {
  /** Of each answer: long prompts may have rates of their own. */
  #answers: Usage[] = []
  /** What runs that are over have used beside their answers: sub-agents, compactions. */
  #beside: Usage = emptyUsage()
  /** Of the run that is on. */
  #running: Usage = emptyUsage()
  #context = 0

  /** Begins with what `agent` has said so far. */
  begin({ messages }: Pick<Agent, 'messages'>): void {
    this.#answers = messages.flatMap((message) => (message.role === 'assistant' ? [message.usage] : []))
    this.#beside = emptyUsage()
    this.#running = emptyUsage()
    const last = this.#answers.at(-1)
    this.#context = last === undefined ? 0 : contextTokensOf(last)
  }

  event(event: AgentEvent): void {
    if (event.type === 'turnEnd') {
      this.#answers.push(event.usage)
      this.#running = combineUsage(this.#running, event.usage)
      this.#context = contextTokensOf(event.usage) || this.#context
    } else if (event.type === 'compactionEnded') this.#context = event.estimatedTokensAfter
    else if (event.type === 'agentEnd') {
      this.#beside = combineUsage(this.#beside, usageBeyond(event.totalUsage ?? event.usage, this.#running))
      this.#running = emptyUsage()
    }
  }

  /** Of this session, runs that are on included. */
  get usage(): Usage {
    return this.#answers.reduce(combineUsage, this.#beside)
  }

  /** Tokens that the next prompt takes at least. */
  get context(): number {
    return this.#context
  }

  /** What all of it costs at `prices`, `$0.0042`; `undefined` where they are not known. What is beside the answers counts as short prompts. */
  cost(prices: CostConfig): string | undefined {
    if (!hasRates({ cost: prices })) return undefined
    const { tiers: _, ...short } = prices
    return dollars(this.#answers.reduce((sum, usage) => sum + estimatedCost(usage, prices), estimatedCost(this.#beside, short)))
  }

  /** Model, context and cost, as the prompt line shows them. */
  line({
    settings: {
      model: { config },
    },
  }: Pick<Agent, 'settings'>): string {
    const share = `${Math.round((100 * this.#context) / Math.max(1, config.contextWindow))}%`
    return [config.id, share, this.cost(config.cost)].filter((part) => part !== undefined).join(' · ')
  }
}
