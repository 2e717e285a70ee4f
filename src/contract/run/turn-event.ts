import { llmMessage, resultEntry } from '../message/message.ts'
import { rateLimits, usage } from '../model/usage.ts'
import { aNumber, type FieldsOf, listOf, optional } from '../shape/shape.ts'
import { eventOf, modelName, runFailure, turnChangesRecord, turnTrigger } from './run-facts.ts'

export const turnStart = {
  ...eventOf('turnStart'),
  turnIndex: aNumber,
  triggeredBy: turnTrigger,
}

/** A turn starts: its input follows, then one response of the model. `turnIndex` is zero-based within the loop. */
export interface TurnStartEvent extends FieldsOf<typeof turnStart> {}

export const modelFallback = {
  ...eventOf('modelFallback'),
  turnIndex: aNumber,
  from: modelName,
  to: modelName,
  /** Error of the first model; absent if it was skipped because it failed recently. */
  error: optional(runFailure),
}

/** A composed model switches to another model. Source: docs/concepts/models.md */
export interface ModelFallbackEvent extends FieldsOf<typeof modelFallback> {}

export const rateLimitsEvent = {
  ...eventOf('rateLimits'),
  turnIndex: aNumber,
  /** The model that was called. */
  of: modelName,
  limits: rateLimits,
}

/**
 * New rate limits from a response. Emitted if the provider reports them and they changed since the last call of this run.
 * Source: docs/concepts/limits.md
 */
export interface RateLimitsEvent extends FieldsOf<typeof rateLimitsEvent> {}

export const turnPrepared = {
  ...eventOf('turnPrepared'),
  turnIndex: aNumber,
  changes: turnChangesRecord,
}

/** The `prepareTurn` hook changed settings of this turn. Emitted before the request. */
export interface TurnPreparedEvent extends FieldsOf<typeof turnPrepared> {}

export const turnEnd = {
  ...eventOf('turnEnd'),
  turnIndex: aNumber,
  message: llmMessage,
  usage,
  toolResults: listOf(resultEntry),
}

/**
 * A turn ended: the model's message, its own tokens, and the tool results in call order. For a turn that only runs calls approved later,
 * `message` is the earlier message that made them and `usage` is zero.
 */
export interface TurnEndEvent extends FieldsOf<typeof turnEnd> {}
