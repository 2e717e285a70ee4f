/**
 * Looks up known models, composes models (fallback, routing, key rotation), and uploads media to providers.
 *
 * @example
 * ```ts
 * const model = fallback([anthropic('claude-sonnet-4-6', { apiKey, catalogue }), openai('gpt-6-sol', { apiKey })])
 * ```
 *
 * @module
 */

export type { TokenRates } from './contract/model/usage.ts'
export { type FetchMediaOptions, fetchMedia, MediaError, type MediaErrorCode } from './media/fetch-media.ts'
export type { UploadProgress } from './media/upload/service-call.ts'
export { type UploadFileOptions, uploadFile } from './media/upload/upload-file.ts'
export { catalogue, type DatedCatalogue } from './models/catalogue.ts'
export { type Cassette, type CassetteEntry, type RecordOptions, recordFetch, replayFetch } from './providers/compose/cassette.ts'
export { type FallbackOptions, fallback } from './providers/compose/fallback.ts'
export { type LimitedOptions, limited } from './providers/compose/limited.ts'
export {
  type Limiter,
  type LimiterAsk,
  type LimiterOptions,
  type LimiterTurn,
  limiter,
  type Priority,
} from './providers/compose/limiter.ts'
export { type RotateKeysOptions, rotateKeys } from './providers/compose/rotate-keys.ts'
export { type Middleware, type RouteChoice, route, withMiddleware } from './providers/compose/route.ts'
export type { CatalogueEntry, ModelCatalogue } from './types/model/model.ts'
export type { MediaQuery, ResolveMedia } from './types/model/provider.ts'
