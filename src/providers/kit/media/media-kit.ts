import type { parsedJson } from '../../../base/json/parsed-json.ts'
import type { shortened } from '../../../base/text/whole-characters.ts'
import type { errorText, ProviderError } from '../../../contract/errors.ts'
import type { mediaName } from '../../../contract/message/block-words.ts'
import type { isMedia } from '../../../contract/message/content.ts'
import type { baseType, isMediaOf, isTextType, mediaBytes, typeByBytes } from '../../../contract/message/media.ts'
import type { readErrorFacts } from '../errors/error-facts.ts'
import type { hashText } from '../history/hash.ts'
import type { isFetched, leftOutAt, leftOutFor, whyLeftOut } from '../history/media.ts'

/** Functions that the core hands to the part for media. A bundler would move what both import into the first load of a small program. */
export interface MediaKit {
  parsedJson: typeof parsedJson
  shortened: typeof shortened
  errorText: typeof errorText
  ProviderError: typeof ProviderError
  mediaName: typeof mediaName
  isMedia: typeof isMedia
  baseType: typeof baseType
  isMediaOf: typeof isMediaOf
  isTextType: typeof isTextType
  mediaBytes: typeof mediaBytes
  typeByBytes: typeof typeByBytes
  readErrorFacts: typeof readErrorFacts
  hashText: typeof hashText
  isFetched: typeof isFetched
  leftOutAt: typeof leftOutAt
  leftOutFor: typeof leftOutFor
  whyLeftOut: typeof whyLeftOut
}

/** Set before anything of this part runs. */
export let kit: MediaKit

/** Takes what the core hands over. */
export function takeKit(given: MediaKit): void {
  kit = given
}
