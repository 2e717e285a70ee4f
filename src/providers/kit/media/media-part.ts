import { checkNewMedia } from './media-checks.ts'
import { type MediaKit, takeKit } from './media-kit.ts'
import { readyMedia } from './ready-media.ts'
import { withoutRefusedMedia } from './refused-media.ts'

/** What requests with pictures and files need. */
export interface MediaPart {
  readyMedia: typeof readyMedia
  checkNewMedia: typeof checkNewMedia
  withoutRefusedMedia: typeof withoutRefusedMedia
}

/** Returns the part, which works with the functions of `kit`. */
export function mediaPartOf(kit: MediaKit): MediaPart {
  takeKit(kit)
  return { readyMedia, checkNewMedia, withoutRefusedMedia }
}
