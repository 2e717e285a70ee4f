import * as z from 'zod'
import type { JsonObject } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { AnnotatedRequest } from '../../contract/run/request-capture.ts'
import type { LoopConfigSnapshot } from '../../contract/run/run-facts.ts'
import type { Turn } from '../../contract/session/session.ts'
import { count } from '../codec.ts'
import { turnTriggerCodec, turnTriggerSchema } from '../loop-words.ts'
import { messageSchema } from '../message.ts'
import { annotatedRequestCodec, requestSchema, type SpecRequest } from '../request.ts'
import { usageCodec, usageSchema } from '../usage.ts'
import { unknownKeys } from './session-keys.ts'
import { exactTimes, timeSchema, writeTime } from './session-time.ts'

const names = {
  turnId: 'turn_id',
  triggeredBy: 'triggered_by',
  usage: 'usage',
  inputMessages: 'input_messages',
  outputMessage: 'output_message',
  toolResults: 'tool_results',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  requestPayload: 'request_payload',
} as const satisfies Record<keyof Turn, string>

/** A turn as Rust tells it: a request does not say which service was asked. */
type SpecTurn = Omit<Turn, 'requestPayload'> & { requestPayload?: SpecRequest }

export const turnSchema: z.ZodType<SpecTurn> = z
  .looseObject({
    turn_id: z.looseObject({ loopId: z.string(), turnIndex: count }),
    triggered_by: turnTriggerSchema,
    usage: usageSchema,
    input_messages: z.array(messageSchema),
    output_message: messageSchema.nullish(),
    tool_results: z.array(messageSchema),
    started_at: timeSchema,
    ended_at: timeSchema,
    request_payload: requestSchema.nullish(),
  })
  .transform(
    ({ turn_id, triggered_by, usage, input_messages, output_message, tool_results, started_at, ended_at, request_payload, ...rest }) => ({
      ...unknownKeys(rest, names),
      ...exactTimes({ started_at, ended_at }),
      turnId: turn_id,
      triggeredBy: triggered_by,
      usage,
      inputMessages: input_messages,
      ...(output_message && isOfTurn(output_message, turn_id) && { outputMessage: output_message }),
      toolResults: tool_results,
      startedAt: started_at.at,
      endedAt: ended_at.at,
      ...(request_payload && { requestPayload: request_payload }),
    }),
  )

/** A turn that only ran calls approved later is written with the answer that made them, for want of one of its own. */
function isOfTurn(message: AgentMessage, turn: Turn['turnId']): boolean {
  if (message.role === 'extension' || message.turnId === undefined) return true
  return message.turnId.loopId === turn.loopId && message.turnId.turnIndex === turn.turnIndex
}

/** Which service a loop asked. Captured requests of Rust do not say. */
function serviceOf({
  provider = '',
  api = 'openAiCompletions',
}: Partial<LoopConfigSnapshot> = {}): Pick<AnnotatedRequest, 'provider' | 'api'> {
  return { provider, api }
}

/** The turn with the service its request went to. */
export function withService({ requestPayload, ...turn }: SpecTurn, config: Partial<LoopConfigSnapshot> | undefined): Turn {
  return requestPayload === undefined ? turn : { ...turn, requestPayload: { ...serviceOf(config), ...requestPayload } }
}

/** What writing a turn needs of its surroundings. */
interface TurnContext {
  config: Partial<LoopConfigSnapshot> | undefined
  encode: (message: AgentMessage) => JsonObject
  /** The answer that made a call. */
  callerOf: (toolCallId: string) => AgentMessage | undefined
}

/** The turn in Rust's JSON; `undefined` where nothing can stand for the answer, without which Rust may refuse the whole file. */
export function turnToSpec(turn: Turn, { config, encode, callerOf }: TurnContext): JsonObject | undefined {
  const { turnId, triggeredBy, usage, inputMessages, outputMessage, toolResults, startedAt, endedAt, requestPayload } = turn
  const answer = outputMessage ?? toolResults.map((result) => (result.role === 'toolResult' ? callerOf(result.toolCallId) : undefined))[0]
  if (answer === undefined) return undefined
  return {
    ...unknownKeys(turn, names),
    turn_id: { ...turnId },
    triggered_by: turnTriggerCodec.encode(triggeredBy),
    usage: usageCodec.encode(usage),
    input_messages: inputMessages.map(encode),
    output_message: encode(answer),
    tool_results: toolResults.map(encode),
    started_at: writeTime(turn, 'started_at', startedAt),
    ended_at: writeTime(turn, 'ended_at', endedAt),
    ...(requestPayload !== undefined && { request_payload: annotatedRequestCodec.encode(withoutService(requestPayload, config)) }),
  }
}

/** Where the loop's configuration says the same, the request need not. */
function withoutService(request: AnnotatedRequest, config: Partial<LoopConfigSnapshot> | undefined): SpecRequest {
  const { provider, api, ...rest } = request
  const service = serviceOf(config)
  return provider === service.provider && api === service.api ? rest : request
}
