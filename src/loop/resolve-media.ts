import type { AbortScope } from '../base/abort.ts'
import { toBase64 } from '../base/base64.ts'
import { ConfigError } from '../contract/errors.ts'
import type { FileContent, ImageContent } from '../contract/message/content.ts'
import { defaultMaxMediaBytes, sourceFault } from '../contract/message/media.ts'
import { kindOf } from '../contract/shape/json-fault.ts'
import type { MediaWithBytes, ResolveMedia } from '../types/model/media.ts'

type Media = ImageContent | FileContent

/** What each resolver gave so far. Another one may refuse what this one fetched. */
const resolved = new WeakMap<ResolveMedia, WeakMap<Media, Media>>()

/** `resolve` for one run that `stop` stops: each block is asked for once, and what failed is not asked for again. */
export function mediaOf(resolve: ResolveMedia, stop: AbortScope): MediaWithBytes {
  const known = resolved.get(resolve) ?? new WeakMap<Media, Media>()
  resolved.set(resolve, known)
  const asked = new WeakMap<Media, Promise<Media>>()
  return (block) => {
    const made = known.get(block)
    let answer = made === undefined ? asked.get(block) : Promise.resolve(made)
    if (answer === undefined) {
      answer = fetched(block, resolve, stop)
      asked.set(block, answer)
      answer.then((found) => known.set(block, found)).catch(() => undefined)
    }
    return answer
  }
}

async function fetched(block: Media, resolve: ResolveMedia, stop: AbortScope): Promise<Media> {
  const { url = '', ...rest } = block
  // An async function, so that one that throws at once is a rejection too.
  const given: unknown = await stop.race((async () => resolve({ url, mimeType: block.mimeType, signal: stop.signal }))())
  if (!(given instanceof Uint8Array) && !(given instanceof Blob)) refuse(`resolveMedia gave ${kindOf(given)} instead of a Blob or bytes`)
  const size = given instanceof Blob ? given.size : given.length
  if (size > defaultMaxMediaBytes) refuse(`it has ${size} bytes, and at most ${defaultMaxMediaBytes} are sent`)
  const data = toBase64(given instanceof Blob ? new Uint8Array(await stop.race(given.arrayBuffer())) : given)
  const found: Media = { ...rest, data }
  const fault = sourceFault(found, 'what was fetched', 'given')
  if (fault !== undefined) refuse(fault)
  return found
}

function refuse(reason: string): never {
  throw new ConfigError('invalidMessage', reason)
}
