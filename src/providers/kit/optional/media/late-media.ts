import { parsedJson } from '../../../../base/json/json-value.ts'
import { type LateChunk, lateChunk } from '../../../../base/late/late-chunk.ts'
import { shortened } from '../../../../base/text/characters.ts'
import { errorText, ProviderError } from '../../../../contract/errors.ts'
import { mediaName } from '../../../../contract/message/block-words.ts'
import { isMedia } from '../../../../contract/message/content.ts'
import { baseType, isMediaOf, isTextType, mediaBytes, typeByBytes } from '../../../../contract/message/media.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { readErrorFacts } from '../../errors/error-facts.ts'
import { placesOfMedia } from '../../history/beginnings.ts'
import { hashText } from '../../history/hash.ts'
import type { MediaKit } from './media-facts.ts'
import type { MediaPart } from './media-part.ts'
import { isFetched, leftOutAt, leftOutFor, whyLeftOut } from './media-rules.ts'
import type { MediaTarget } from './ready-media.ts'

export type { MediaTarget } from './ready-media.ts'

type Part = typeof import('./media-part.ts')
const chunk: LateChunk<Part> = lateChunk('the checks of pictures and files', () => import('./media-part.ts'))

const kit: MediaKit = {
  ...{ parsedJson, shortened, errorText, ProviderError, mediaName, isMedia, baseType, isMediaOf, isTextType, mediaBytes, typeByBytes },
  ...{ readErrorFacts, hashText, isFetched, leftOutAt, leftOutFor, whyLeftOut },
}

/** Returns the media part if it is loaded. Otherwise `undefined`. */
export function loadedMedia(): MediaPart | undefined {
  return chunk.loaded?.mediaPartOf(kit)
}

/** Loads the media part. Rejects with `LoadError`. */
export async function loadMedia(): Promise<MediaPart> {
  return (await chunk.load()).mediaPartOf(kit)
}

/**
 * Prepares the media of `request`: see `readyMedia`. `places` lists the messages with media. Returns the same object without media. Returns
 * a promise only if media must be fetched or the media part is not loaded yet.
 */
export function withReadyMedia(
  request: StreamRequest,
  target: MediaTarget,
  places: readonly number[] = placesOfMedia(request.messages),
): StreamRequest | Promise<StreamRequest> {
  if (places.length === 0) return request
  return loadedMedia()?.readyMedia(request, target) ?? loadMedia().then((part) => part.readyMedia(request, target))
}
