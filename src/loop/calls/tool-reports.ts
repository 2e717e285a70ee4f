import { type ContextChange, revertCategory } from '../../contract/context/context-change.ts'
import { ConfigError } from '../../contract/errors.ts'
import { fits } from '../../contract/shape/read.ts'

/**
 * Throws `ConfigError` `invalidOption` unless `event` has the common event fields. Runs in O(1), because it is called for every delta of a
 * nested loop.
 */
export function checkChildEvent(event: unknown): void {
  const { type, runId, loopId, sessionId, seq, at, event: inner }: EventFields = Object(event)
  const isEvent = [type, runId, loopId, sessionId].every((value) => typeof value === 'string') && isFigure(seq) && isFigure(at)
  if (!isEvent) throw wrong('childEvent', event, 'an event of a loop, as its emit receives it')
  if (type === 'childEvent') checkChildEvent(inner)
}

type EventFields = Partial<Record<'type' | 'runId' | 'loopId' | 'sessionId' | 'seq' | 'at' | 'event', unknown>>

/** Returns a copy of `change`. Throws `ConfigError` `invalidOption` if it is invalid, because applying it would fail the run. */
export function checkChange(change: unknown): ContextChange {
  const { type, tokens, memo, category, targetNodeId, summary }: ChangeFields = Object(change)
  if (type === 'prune' && isFigure(tokens) && isOptionalText(memo)) {
    return { type, tokens, ...(memo !== undefined && { memo }) }
  }
  if (type === 'revert' && fits(revertCategory, category) && isFigure(targetNodeId) && isOptionalText(summary)) {
    return { type, category, targetNodeId, ...(summary !== undefined && { summary }) }
  }
  throw wrong('changeContext', change, "{ type: 'prune', tokens, memo? } or { type: 'revert', category, targetNodeId, summary? }")
}

type ChangeFields = Partial<Record<'type' | 'tokens' | 'memo' | 'category' | 'targetNodeId' | 'summary', unknown>>

function isFigure(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

function wrong(name: string, value: unknown, allowed: string): ConfigError {
  return new ConfigError('invalidOption', `ctx.${name} does not accept ${shown(value)}. Pass ${allowed}.`)
}

function shown(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 200)
  } catch {
    return `a value of type ${typeof value}`
  }
}
