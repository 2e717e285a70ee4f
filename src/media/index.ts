/**
 * Media that do not go as bytes: addresses that no service fetches, files that a service keeps.
 *
 * @module
 */
export type { MediaQuery, ResolveMedia } from '../types/model/media.ts'
export { type FetchMediaOptions, fetchMedia } from './fetch-media.ts'
export { MediaError, type MediaErrorCode } from './media-error.ts'
export type { UploadProgress } from './upload/keep.ts'
export { type UploadFileOptions, uploadFile } from './upload/upload-file.ts'
