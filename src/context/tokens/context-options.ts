import {
  aFunction,
  aNumberFromZero,
  aText,
  closed,
  either,
  kind,
  type OptionTable,
  options,
  type Shape,
  tagged,
  withMethods,
} from '../../contract/shape/shape.ts'
import type { CompactionConfig, CompactionStrategy, ContextConfig } from '../../types/context/compaction.ts'

/** Options that `false` disables. */
export const off: Shape = kind('false', (value) => value === false)
const aShare = kind('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1)

const strategyTable: OptionTable<CompactionStrategy> = { keepFirst: aFunction, keepCompacted: aFunction, keepRecent: aFunction }

const compactionTable: OptionTable<CompactionConfig> = {
  compactAtPct: aShare,
  compactBudgetThresholdPct: aShare,
  scope: closed(tagged('type', { fixedCount: { count: aNumberFromZero }, tokenBudget: {} })),
  keepFirstTurns: aNumberFromZero,
  keepRecentTurns: aNumberFromZero,
  maxSummaryTokens: aNumberFromZero,
  toolOutputMaxLines: aNumberFromZero,
  focusMessage: aText,
  strategy: options(strategyTable, true),
}

const contextTable: OptionTable<ContextConfig> = {
  maxContextTokens: aNumberFromZero,
  systemPromptTokens: aNumberFromZero,
  tokenCounter: withMethods('a token counter', 'text', 'message'),
  compaction: either(off, options(compactionTable)),
}

/** Shapes of the context options. `checkContextConfig` validates their combination. */
export const contextOptions: Shape = options(contextTable)
