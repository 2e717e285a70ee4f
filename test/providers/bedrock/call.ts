import type { Content } from '../../../src/contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../src/contract/message/message.ts'
import { type BedrockOptions, bedrock } from '../../../src/providers/bedrock/index.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { awsFrame } from '../../harness/server/bedrock.ts'
import { bodyOf, type Ending, fixture } from '../bytes.ts'
import { answerBy, type Outcome, outcomeOf, plainRequest, sentBody } from '../model-call.ts'

export { type Outcome, result, user } from '../model-call.ts'

/** Parts of a key that must appear nowhere but in the request. */
export const canaries = ['AKIACANARY0123456789', 'canarysecretABCDEFGHIJKLMNOPQRSTUVWXYZ', 'canarytoken/with:colons=='] as const
export const credential = canaries.join(':')
/** Binds no reasoning, so blocks are what the wire says. */
export const claude = 'us.anthropic.claude-opus-4-6-v1'

export function answer(content: Content[], changes: Partial<AssistantMessage> = {}): AssistantMessage {
  return answerBy({ model: claude, provider: 'bedrock' }, content, changes)
}

export function call(id: string, args = {}, name = 'read'): Content {
  return { type: 'toolCall', id, name, arguments: args }
}

/** A request for `id` with everything else at its default. */
export function request(id: string, changes: Partial<StreamRequest> = {}, options: BedrockOptions = {}): StreamRequest {
  return plainRequest(bedrock(id, options).config, { credential, systemPrompt: 'Be brief.', ...changes })
}

/** The bytes of one event, or of one exception, in the framing of AWS. */
export function frame(type: string, fields: unknown): Uint8Array {
  const isException = type.endsWith('Exception')
  const headers = {
    [isException ? ':exception-type' : ':event-type']: type,
    ':content-type': 'application/json',
    ':message-type': isException ? 'exception' : 'event',
  }
  return awsFrame(headers, JSON.stringify(fields))
}

/** The lines of a fixture, each an object with the type of an event as its only name. */
export function linesOf(name: string): Uint8Array {
  return fixture(`bedrock/${name}.ndjson`)
}

/** A fixture as frames. */
export function framesOf(name: string): Uint8Array[] {
  const lines = new TextDecoder().decode(linesOf(name)).trim().split('\n')
  return lines.flatMap((line) => Object.entries(JSON.parse(line)).map(([type, fields]) => frame(type, fields)))
}

/** A fixture as the bytes of a binary stream. */
export function bytesOf(name: string): Uint8Array {
  return new Uint8Array(Buffer.concat(framesOf(name)))
}

/** A `fetch` that answers every call with a binary stream of `pieces`. */
export function answering(
  pieces: Iterable<Uint8Array>,
  ending: Ending = 'close',
  type = 'application/vnd.amazon.eventstream',
): typeof fetch {
  return async () => new Response(bodyOf(pieces, ending).stream, { headers: { 'content-type': type } })
}

/** One call through an injected fetch. */
export async function streamed(
  fetch: typeof globalThis.fetch,
  made: StreamRequest = request(claude),
  signal: AbortSignal = new AbortController().signal,
  options: BedrockOptions = {},
): Promise<Outcome> {
  const { provider } = bedrock(made.model.id, { ...options, fetch })
  return await outcomeOf(provider, made, signal)
}

/** A body as far as tests read it. */
export interface WireBody extends Record<string, unknown> {
  messages: WireMessages
  toolConfig?: { tools: Record<string, unknown>[]; toolChoice?: unknown }
}

/** The messages of a body. */
export type WireMessages = { role: string; content: Record<string, unknown>[] }[]

/** The body that is sent for `made`, parsed. */
export function bodyFor(made: StreamRequest, options: BedrockOptions = {}): Promise<WireBody> {
  return sentBody(bedrock(made.model.id, options).provider, made)
}

/** The wire messages that `messages` become. */
export async function wireMessages(messages: readonly Message[], changes: Partial<StreamRequest> = {}, id = claude): Promise<WireMessages> {
  return (await bodyFor(request(id, { messages, cache: { type: 'disabled' }, ...changes }))).messages
}
