import { llmMessage, resultEntry } from '../message/message.ts'
import { rateLimits, usage } from '../model/usage.ts'
import { aNumber, type FieldsOf, listOf, optional } from '../shape/shape.ts'
import { eventOf, modelName, runFailure, turnChangesRecord, turnTrigger } from './run-facts.ts'

export const turnStart = {
  ...eventOf('turnStart'),
  turnIndex: aNumber,
  triggeredBy: turnTrigger,
}

/** A turn begins: its input follows, then one answer of the model. `turnIndex` counts from 0 within the loop. */
export interface TurnStartEvent extends FieldsOf<typeof turnStart> {}

export const modelFallback = {
  ...eventOf('modelFallback'),
  turnIndex: aNumber,
  from: modelName,
  to: modelName,
  /** Why; absent where the first was not asked because it has failed lately. */
  error: optional(runFailure),
}

/** A model made of several asks another one than it would, or than it has asked before. Source: docs/concepts/models.md */
export interface ModelFallbackEvent extends FieldsOf<typeof modelFallback> {}

export const rateLimitsEvent = {
  ...eventOf('rateLimits'),
  turnIndex: aNumber,
  /** The model that was asked. */
  of: modelName,
  limits: rateLimits,
}

/**
 * A service has said what is left of its rate limits. Only where it says so, and something else than with the last call of this run.
 * Source: docs/concepts/limits.md
 */
export interface RateLimitsEvent extends FieldsOf<typeof rateLimitsEvent> {}

export const turnPrepared = {
  ...eventOf('turnPrepared'),
  turnIndex: aNumber,
  changes: turnChangesRecord,
}

/** The `prepareTurn` hook has changed what this turn has; before the request is made. */
export interface TurnPreparedEvent extends FieldsOf<typeof turnPrepared> {}

export const turnEnd = {
  ...eventOf('turnEnd'),
  turnIndex: aNumber,
  message: llmMessage,
  usage,
  toolResults: listOf(resultEntry),
}

/**
 * A turn has ended: the model's message, its own tokens, and the results of its calls in the order of the calls. For a turn that only runs
 * calls approved later, `message` is the earlier message that made them and `usage` is zero.
 */
export interface TurnEndEvent extends FieldsOf<typeof turnEnd> {}
