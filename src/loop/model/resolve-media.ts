import type { AbortScope } from '../../base/abort.ts'
import { toBase64 } from '../../base/base64.ts'
import { ConfigError } from '../../contract/errors.ts'
import type { MediaContent } from '../../contract/message/content.ts'
import { defaultMaxMediaBytes, sourceFault } from '../../contract/message/media.ts'
import { kindOf } from '../../contract/shape/json-fault.ts'
import type { MediaWithBytes } from '../../types/model/provider.ts'
import type { LoopConfig } from '../loop-config.ts'

type MediaSources = Pick<LoopConfig, 'resolveMedia' | 'journal'>

/** Caches resolved media per resolver, because another resolver may reject the same block. */
const resolved = new WeakMap<object, WeakMap<MediaContent, MediaContent>>()

/**
 * Returns a function that resolves media bytes for one run: first from the journal's session, then with `resolveMedia`. Resolves each block
 * once, and caches failures. Returns `undefined` if there is no source.
 */
export function mediaOf(sources: MediaSources, sessionId: string, stop: AbortScope): MediaWithBytes | undefined {
  const asks = sources.resolveMedia ?? sources.journal?.media
  if (asks === undefined) return undefined
  const known = resolved.get(asks) ?? new WeakMap<MediaContent, MediaContent>()
  resolved.set(asks, known)
  const asked = new WeakMap<MediaContent, Promise<MediaContent>>()
  return (block) => {
    const made = known.get(block)
    let answer = made === undefined ? asked.get(block) : Promise.resolve(made)
    if (answer === undefined) {
      answer = fetched(block, sources, sessionId, stop)
      asked.set(block, answer)
      answer.then((found) => found !== block && known.set(block, found)).catch(() => undefined)
    }
    return answer
  }
}

async function fetched(
  block: MediaContent,
  { resolveMedia, journal }: MediaSources,
  sessionId: string,
  stop: AbortScope,
): Promise<MediaContent> {
  const { url, ...rest } = block
  if (block.blob) return stop.race(journal?.media?.(sessionId, block) ?? Promise.resolve(block))
  if (!resolveMedia || !url) return block
  // An async function turns a synchronous throw into a rejection.
  const given: unknown = await stop.race((async () => resolveMedia({ url, mimeType: block.mimeType, signal: stop.signal }))())
  if (!(given instanceof Uint8Array) && !(given instanceof Blob))
    refuse(`resolveMedia returned ${kindOf(given)} instead of a Blob or bytes`)
  const size = given instanceof Blob ? given.size : given.length
  if (size > defaultMaxMediaBytes) refuse(`it has ${size} bytes, and at most ${defaultMaxMediaBytes} are sent`)
  const data = toBase64(given instanceof Blob ? new Uint8Array(await stop.race(given.arrayBuffer())) : given)
  const found: MediaContent = { ...rest, data }
  const fault = sourceFault(found, 'what was fetched', 'given')
  if (fault !== undefined) refuse(fault)
  return found
}

function refuse(reason: string): never {
  throw new ConfigError('invalidMessage', reason)
}
