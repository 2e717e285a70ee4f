/**
 * Media that do not go as bytes: addresses that no service fetches, files that a service keeps.
 *
 * @module
 */
export type { MediaQuery, ResolveMedia } from '../types/model/provider.ts'
export { type FetchMediaOptions, fetchMedia, MediaError, type MediaErrorCode } from './fetch-media.ts'
export type { UploadProgress } from './upload/service-call.ts'
export { type UploadFileOptions, uploadFile } from './upload/upload-file.ts'
