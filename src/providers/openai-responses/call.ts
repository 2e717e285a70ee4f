import type { AssistantMessage } from '../../types/message.ts'
import type { EncodedRequest, StreamEvent, StreamRequest } from '../../types/provider.ts'
import { emptyUsage } from '../../types/usage.ts'
import type { Exchange } from '../shared/exchange.ts'
import type { TransportOptions } from '../shared/factory-options.ts'
import { sendStreaming } from '../shared/send.ts'
import { type EncodingOptions, encodeRequest } from './encode-request.ts'
import { refusalOf } from './refusal.ts'
import { ResponsesDecoder } from './responses-decoder.ts'

/** A service that speaks the Responses API. */
export interface ResponsesService extends EncodingOptions {
  /** For people: `OpenAI`. */
  name: string
  transport: TransportOptions
}

/** What a call would send. */
export function encodeCall(request: StreamRequest, service: ResponsesService): EncodedRequest {
  return encodeRequest(request, service).encoded
}

/**
 * One model call.
 *
 * **Contract**
 * - A prompt refused by the service's content filter is an answer that stopped with `guardRail` and holds what the service said.
 * - Reasoning of earlier answers that the service can no longer read (`invalid_encrypted_content`: another key, another organisation) is
 *   left out and the call is repeated once, before anything was emitted. This is not a retry of the loop's.
 * - Otherwise as `sendStreaming`.
 */
export async function callService(
  request: StreamRequest,
  service: ResponsesService,
  emit: (event: StreamEvent) => void,
  signal: AbortSignal,
): Promise<AssistantMessage> {
  const made = encodeRequest(request, service)
  const exchange = exchangeOf(request, service, made, emit, signal)
  let refused: unknown
  exchange.onRefusal = (body) => {
    refused = body
  }
  try {
    return await sendStreaming(exchange)
  } catch (error) {
    const { builder } = exchange.decoder
    if (refused === undefined || builder.isStarted || signal.aborted) throw error
    const refusal = refusalOf(refused, request.credential)
    if (refusal?.kind === 'contentFilter') {
      builder.text(0, refusal.text)
      return builder.finish('guardRail', emptyUsage())
    }
    if (refusal?.kind !== 'encryptedContent' || !made.hasReasoning) throw error
  }
  return await sendStreaming(exchangeOf(request, service, encodeRequest(request, service, true), emit, signal))
}

function exchangeOf(
  request: StreamRequest,
  { name, transport }: ResponsesService,
  { encoded, answerTool }: { encoded: EncodedRequest; answerTool?: string },
  emit: (event: StreamEvent) => void,
  signal: AbortSignal,
): Exchange {
  const decoder = new ResponsesDecoder(request.model, name, emit, answerTool)
  const exchange: Exchange = { service: name, encoded, decoder, signal, transport }
  if (request.credential !== undefined) exchange.credential = request.credential
  return exchange
}
