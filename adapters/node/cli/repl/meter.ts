import { combineUsage, contextTokensOf, emptyUsage } from '../../../../src/context.ts'
import { hasRates, usageBeyond } from '../../../../src/contract/model/usage.ts'
import { type Agent, type AgentEvent, type CostConfig, type EventOf, estimatedCost, type Usage } from '../../../../src/index.ts'
import type { LoopRecord } from '../../../../src/session.ts'

/** Formats a count: 950, 8.1k, 1.2M. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count)
  return count < 999_950 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

/** Formats a duration: 40ms, 1.3s, 2m 05s. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`
}

/** $0.0042, $1.20. */
function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`
}

/** A session's usage, and how full its context window is. */
export class Meter {
  #usage: Usage = emptyUsage()
  /** Reported costs of finished runs. */
  #spent = 0
  /** Usage of responses without a reported cost, stored individually because long prompts may have different prices. */
  #answers: Usage[] = []
  /** Usage other than responses in runs without a reported cost, such as sub-agents and compactions. */
  #otherUsage: Usage = emptyUsage()
  /** Usage of the current run's responses. */
  #running: Usage[] = []
  #context = 0

  /**
   * Starts with the logged usage of the session's loops, because undone messages were billed but are not in the history.
   */
  begin(agent: Pick<Agent, 'messages' | 'lastLoopId' | 'currentRun'>, loops: readonly LoopRecord[]): void {
    this.#usage = emptyUsage()
    this.#spent = 0
    this.#answers = []
    this.#otherUsage = emptyUsage()
    this.#running = []
    for (const loop of loops) this.#add(loop, agent.currentRun !== undefined && loop.loopId === agent.lastLoopId)
    this.tookBack(agent)
  }

  #add({ usage, costUsd, messages }: LoopRecord, isOn: boolean): void {
    this.#usage = combineUsage(this.#usage, usage)
    if (costUsd !== undefined) {
      this.#spent += costUsd
      return
    }
    const answers = messages.flatMap((message) => (message.role === 'assistant' ? [message.usage] : []))
    const known = isOn ? this.#running : this.#answers
    known.push(...answers)
    // The current run's end reports usage other than its responses.
    if (!isOn) this.#otherUsage = combineUsage(this.#otherUsage, usageBeyond(usage, answers.reduce(combineUsage, emptyUsage())))
  }

  /** Continues after messages of `agent` were undone. The context shrinks, but the cost stays. */
  tookBack({ messages }: Pick<Agent, 'messages'>): void {
    const last = messages.findLast((message) => message.role === 'assistant')
    this.#context = last === undefined ? 0 : contextTokensOf(last.usage)
  }

  event(event: AgentEvent): void {
    if (event.type === 'turnEnd') {
      this.#usage = combineUsage(this.#usage, event.usage)
      this.#running.push(event.usage)
      this.#context = contextTokensOf(event.usage) || this.#context
    } else if (event.type === 'compactionEnded') this.#context = event.estimatedTokensAfter
    else if (event.type === 'agentEnd') this.#ended(event)
  }

  #ended({ totalUsage, usage, costUsd }: EventOf<'agentEnd'>): void {
    const otherUsage = usageBeyond(totalUsage ?? usage, this.#running.reduce(combineUsage, emptyUsage()))
    this.#usage = combineUsage(this.#usage, otherUsage)
    if (costUsd !== undefined) this.#spent += costUsd
    else {
      this.#answers.push(...this.#running)
      this.#otherUsage = combineUsage(this.#otherUsage, otherUsage)
    }
    this.#running = []
  }

  /** Includes running runs of this session. */
  get usage(): Usage {
    return this.#usage
  }

  /** Minimum tokens of the next prompt. */
  get context(): number {
    return this.#context
  }

  /**
   * Returns the total cost in USD, at `prices` where no cost was reported, or `undefined` if any part has no price. Prices usage other than
   * responses as short prompts.
   */
  costUsd(prices: CostConfig): number | undefined {
    const answers = [...this.#answers, ...this.#running]
    if (!hasRates({ cost: prices }) && (this.#spent === 0 || answers.length > 0)) return undefined
    const { tiers: _, ...short } = prices
    return answers.reduce((sum, usage) => sum + estimatedCost(usage, prices), this.#spent + estimatedCost(this.#otherUsage, short))
  }

  /** Formats the cost, such as `$0.0042`. */
  cost(prices: CostConfig): string | undefined {
    const costUsd = this.costUsd(prices)
    return costUsd === undefined ? undefined : dollars(costUsd)
  }

  /** Formats model, context and cost for the prompt line. Omits the model name on narrow screens. */
  line({ settings: { model } }: Pick<Agent, 'settings'>, width: number): string {
    const { id, contextWindow, cost } = model.config
    const share = `${Math.round((100 * this.#context) / Math.max(1, contextWindow))}%`
    return [...(width < 60 ? [] : [id]), share, this.cost(cost)].filter((part) => part !== undefined).join(' · ')
  }
}
