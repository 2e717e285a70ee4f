import { raceAbort } from '../../base/abort.ts'
import { errorText } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { type AgentMessage, withId } from '../../contract/message/message.ts'
import type { CostConfig, Usage } from '../../contract/model/usage.ts'
import type { CompactionInput, CompactionStrategy } from '../../types/context/compaction.ts'
import type { Budget } from '../../types/run/budget.ts'
import { totalTokens } from '../tokens/estimate.ts'
import { turnsOf } from '../view/turns.ts'
import { defaultCompaction, keepNewest } from './default-compaction.ts'
import { compactedWithin, recentWithin, type SectionInput, type Sections } from './default-sections.ts'
import { messagesFault, shown } from './message-fault.ts'
import { fittingFirst, fittingSplit, freeTokens, type Split, splitFor } from './outline.ts'
import { middleTurns } from './scope.ts'
import { markerTokens, middleMarker } from './summary-lines.ts'

/** A strategy's context. */
export interface StrategyOptions {
  /** The loop owns this signal. */
  signal: AbortSignal
  budget: Budget
  /** Receives every model call that the strategy charged, immediately, also if the compaction fails. */
  spent?(usage: Usage, cost: CostConfig): void
  warn(event: string, fields: JsonObject): void
}

/** A strategy's input. */
const strategyParts = ['keepFirst', 'keepCompacted', 'keepRecent'] as const satisfies (keyof CompactionStrategy)[]

/** Returns the names of the functions that override the default strategy. */
export function ownParts(strategy: CompactionStrategy = {}): (keyof CompactionStrategy)[] {
  return strategyParts.filter((name) => strategy[name] !== undefined && strategy[name] !== defaultCompaction[name])
}

/**
 * Runs a strategy. If a part throws or returns an invalid value, the fault is logged and the default runs instead. A result that is too
 * long is truncated, and the newest turns are retained. Rejects only with the signal's reason.
 */
export async function strategySections(input: SectionInput, options: StrategyOptions): Promise<Sections> {
  return new StrategyRun(input, options).sections()
}

class StrategyRun {
  readonly #input: SectionInput
  readonly #options: StrategyOptions
  readonly #strategy: CompactionStrategy
  readonly #own: readonly (keyof CompactionStrategy)[]
  readonly #budget: Budget

  constructor(input: SectionInput, options: StrategyOptions) {
    this.#input = input
    this.#options = options
    this.#budget = reporting(options)
    this.#strategy = input.context.compaction.strategy ?? {}
    this.#own = ownParts(this.#strategy)
  }

  async sections(): Promise<Sections> {
    const { outline, context, target } = this.#input
    const asked = splitFor(outline, await this.#keepFirst(), context.compaction)
    const reserve = this.#reserve()
    const beginning = { ...asked, first: fittingFirst(outline, asked.first, target) }
    const own = await this.#keepRecent(beginning, reserve)
    // Without a strategy for recent turns, keep as many as possible without using the summary's tokens.
    const split = own === undefined ? fittingSplit(outline, asked, target, reserve) : beginning
    const recent = own ?? recentWithin(this.#input, split, reserve)
    const room = freeTokens(outline, { ...split, recent: 0 }, target) - totalTokens(recent, context.counter)
    const byDefault = compactedWithin(this.#input, split, { room, asked })
    return { split, recent, ...byDefault, compacted: (await this.#keepCompacted(split, room)) ?? byDefault.compacted }
  }

  async #keepFirst(): Promise<number> {
    const { outline, context, target } = this.#input
    const turns = outline.parts.slice(0, outline.maxFirst).map((part) => part.messages)
    const count = await this.#ask('keepFirst', turns, target)
    return typeof count === 'number' ? count : context.compaction.keepFirstTurns
  }

  async #keepRecent(split: Split, reserve: number): Promise<readonly AgentMessage[] | undefined> {
    const { outline, target } = this.#input
    const turns = outline.parts.slice(outline.parts.length - split.recent).map((part) => part.messages)
    const maxTokens = freeTokens(outline, { ...split, recent: 0 }, target) - reserve
    const messages = await this.#askForMessages('keepRecent', turns, maxTokens)
    if (messages === undefined) return undefined
    const kept = this.#cut(messages, maxTokens, 0)
    // Keep the newest turn even if it is too long.
    return kept.at(-1) === messages.at(-1) ? kept : turnsOf(messages).at(-1)
  }

  async #keepCompacted(split: Split, room: number): Promise<readonly AgentMessage[] | undefined> {
    const { outline, context } = this.#input
    const { turns, removed } = middleTurns(outline, split, context)
    const limit = Math.min(context.compaction.maxSummaryTokens, room)
    const maxTokens = removed === 0 ? limit : limit - markerTokens(context.counter)
    if (turns.length === 0 || maxTokens <= 0) return undefined
    const messages = await this.#askForMessages('keepCompacted', turns, maxTokens)
    return messages && this.#cut(messages, limit, removed)
  }

  /** Returns the tokens to reserve in addition to the retained turns: for a useful summary, or a marker. */
  #reserve(): number {
    const { context, target } = this.#input
    if (this.#own.includes('keepCompacted')) return Math.min(context.compaction.maxSummaryTokens, Math.floor(target / 4))
    return markerTokens(context.counter)
  }

  #cut(messages: readonly AgentMessage[], maxTokens: number, removed: number): AgentMessage[] {
    return keepNewest(turnsOf(messages), { maxTokens, removed, marker: middleMarker, counter: this.#input.context.counter })
  }

  async #askForMessages(
    part: 'keepCompacted' | 'keepRecent',
    turns: CompactionInput['turns'],
    maxTokens: number,
  ): Promise<AgentMessage[] | undefined> {
    const answer = await this.#ask(part, turns, maxTokens)
    return Array.isArray(answer) ? answer.map(withId) : undefined
  }

  async #ask(part: keyof CompactionStrategy, turns: CompactionInput['turns'], maxTokens: number) {
    if (!this.#own.includes(part)) return undefined
    const { signal, warn } = this.#options
    const { compaction: config, counter } = this.#input.context
    const budget = this.#budget
    try {
      // Called as a method, because the strategy may be a class instance.
      const answer = await raceAbort(this.#strategy[part]?.({ turns, config, counter, maxTokens, signal, budget }), signal)
      const fault = part === 'keepFirst' ? countFault(answer) : messagesFault(answer)
      if (fault === undefined) return answer
      warn('compactionStrategyFailed', { part, message: `${part} returned ${fault}` })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      warn('compactionStrategyFailed', { part, message: errorText(error) })
    }
    return undefined
  }
}

/** Wraps the budget for a strategy, and reports its charges. */
function reporting({ budget, spent }: StrategyOptions): Budget {
  return {
    exceeded: () => budget.exceeded(),
    charge: (usage, cost) => {
      budget.charge(usage, cost)
      spent?.(usage, cost)
    },
  }
}

function countFault(answer: unknown): string | undefined {
  return Number.isInteger(answer) && Number(answer) >= 0 ? undefined : `${shown(answer)}; it must be a whole number of turns, from 0.`
}
