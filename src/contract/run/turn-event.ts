import { llmMessage, resultEntry } from '../message/message.ts'
import { rateLimits, usage } from '../model/usage.ts'
import { aNumber, type FieldsOf, listOf, optional } from '../shape/shape.ts'
import { eventOf, modelName, runFailure, turnChangesRecord, turnTrigger } from './run-facts.ts'

export const turnStart = {
  ...eventOf('turnStart'),
  turnIndex: aNumber,
  triggeredBy: turnTrigger,
}

/** A turn starts. Its input follows, then one model response. `turnIndex` is zero-based within the loop. */
export interface TurnStartEvent extends FieldsOf<typeof turnStart> {}

export const modelFallback = {
  ...eventOf('modelFallback'),
  turnIndex: aNumber,
  from: modelName,
  to: modelName,
  /** Error of the first model. Absent if that model was skipped because it failed recently. */
  error: optional(runFailure),
}

/** A composed model switches to another model. Source: docs/concepts/models.md */
export interface ModelFallbackEvent extends FieldsOf<typeof modelFallback> {}

export const rateLimitsEvent = {
  ...eventOf('rateLimits'),
  turnIndex: aNumber,
  /** Model whose provider sent the rate limits. */
  of: modelName,
  limits: rateLimits,
}

/**
 * New rate limits from a response. Emitted if the provider reports them and they changed since this run's last call.
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
 * A turn ended, with the model's message and usage, and the tool results in call order. If the turn only ran calls of an earlier message,
 * `message` is that message and `usage` is zero.
 */
export interface TurnEndEvent extends FieldsOf<typeof turnEnd> {}
