import { toBase64 } from '../../../../src/base/base64.ts'
import { isJsonObject } from '../../../../src/contract/json.ts'
import { isHash } from '../../../../src/contract/message/media.ts'
import type { JsonValue } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import { mediaAddress } from '../../live/gateway/media-form.ts'
import type { SessionGateway } from '../../live/gateway/session-gateway.ts'
import type { MediaForm } from '../../stream/event-source.ts'
import type { SessionRouteOptions } from '../route-options.ts'

/** Returns the form of large media in other protocols: URLs on this server if `mediaBase` is set, otherwise bytes. */
export function mediaFormOf({ mediaBase }: Pick<SessionRouteOptions, 'mediaBase'>): MediaForm {
  return mediaBase === undefined ? 'bytes' : { base: mediaBase }
}

/**
 * Returns a body's `message` with the bytes of media that it references by this session's URLs. Rejects media that the session does not
 * store with 400.
 */
export async function ownMediaIn(message: JsonValue, gateway: SessionGateway, { mediaBase }: SessionRouteOptions): Promise<JsonValue> {
  if (mediaBase === undefined || !isJsonObject(message) || !Array.isArray(message.parts)) return message
  const address = mediaAddress(mediaBase, gateway.sessionId)
  return { ...message, parts: await Promise.all(message.parts.map((part) => ownOf(part, gateway, address))) }
}

async function ownOf(part: JsonValue, gateway: SessionGateway, address: string): Promise<JsonValue> {
  if (!isJsonObject(part) || typeof part.url !== 'string' || !part.url.startsWith(address)) return part
  const hash = part.url.slice(address.length)
  const media = isHash(hash) ? await gateway.read.media(hash).catch(() => undefined) : undefined
  if (media === undefined)
    refuse(400, 'invalidBody', 'A file in the message refers to a blob that this session does not have. Send the file again.')
  return { ...part, url: `data:${String(part.mediaType)};base64,${toBase64(media.bytes)}` }
}
