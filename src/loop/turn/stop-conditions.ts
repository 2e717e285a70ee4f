import { ConfigError } from '../../contract/errors.ts'
import type { EndedBy } from '../../contract/run/run-facts.ts'
import type { RunProgress, StopCondition } from '../../types/run/turn.ts'
import { hookFailed } from '../hooks.ts'
import type { LoopState } from '../loop-state.ts'
import type { TurnOutcome } from './turn.ts'

/**
 * Creates a condition that ends a run as completed after `count` turns. Throws `ConfigError` `invalidOption` unless `count` is a positive
 * integer. Source: docs/concepts/limits.md
 */
export function turnCount(count: number): StopCondition {
  if (!Number.isInteger(count) || count < 1) throw notPossible('turnCount', count, 'a whole number from 1')
  return labelled(`turnCount(${count})`, ({ turns }) => turns >= count)
}

/** Creates a condition that ends a run after a turn that called this tool, regardless of the result. Source: docs/concepts/limits.md */
export function toolCalled(name: string): StopCondition {
  if (typeof name !== 'string' || name === '') throw notPossible('toolCalled', name, 'the name of a tool')
  return labelled(`toolCalled(${JSON.stringify(name)})`, ({ toolResults }) => toolResults.some(({ toolName }) => toolName === name))
}

/**
 * Creates a condition that ends a run once its known cost exceeds `usd`. Unlike `limits.maxCost`, it ends the run as completed.
 * Source: docs/concepts/limits.md
 */
export function costOver(usd: number): StopCondition {
  if (typeof usd !== 'number' || !(usd >= 0)) throw notPossible('costOver', usd, 'USD, a number from 0')
  return labelled(`costOver(${usd})`, ({ costUsd }) => costUsd > usd)
}

function labelled(label: string, condition: (progress: RunProgress) => boolean): StopCondition {
  return Object.assign(condition, { label })
}

function notPossible(name: string, value: unknown, allowed: string): ConfigError {
  return new ConfigError('invalidOption', `Invalid stop condition ${name}(${String(value)}): pass ${allowed}.`)
}

/**
 * Returns the first condition that ends the run, if any. A condition that throws or returns no boolean fails the run, because a run that
 * should have ended must not continue.
 */
export async function metCondition(loop: LoopState, outcome: TurnOutcome): Promise<EndedBy | undefined> {
  const { stopWhen = [] } = loop.config
  for (const condition of typeof stopWhen === 'function' ? [stopWhen] : stopWhen) {
    const name = condition.label ?? (condition.name === '' ? 'stopWhen' : condition.name)
    try {
      const isMet: unknown = await loop.stop.race((async () => condition(progressOf(loop, outcome)))())
      if (isMet === true) return { type: 'condition', name }
      if (isMet !== false) throw new TypeError(`it returned ${String(isMet)} instead of true or false`)
    } catch (error) {
      if (loop.stop.aborted) return undefined
      loop.fail(hookFailed(`The stop condition ${name}`, error))
      return undefined
    }
  }
  return undefined
}

function progressOf({ turnIndex, added, usage, budget, stop }: LoopState, { message, results }: TurnOutcome): RunProgress {
  const { costUsd } = budget.used()
  return {
    turns: turnIndex + 1,
    messages: [...added],
    message,
    toolResults: [...results],
    usage: { ...usage },
    costUsd,
    signal: stop.signal,
  }
}
