/**
 * Media that do not come as bytes: addresses that no service fetches.
 *
 * @module
 */
export type { MediaQuery, ResolveMedia } from '../types/model/media.ts'
export { type FetchMediaOptions, fetchMedia } from './fetch-media.ts'
export { MediaError, type MediaErrorCode } from './media-error.ts'
