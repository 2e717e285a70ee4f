/**
 * Models made of models: another one when a call fails, one per request, several keys, code around each call, calls that were recorded. They cost nothing where they are not
 * used.
 *
 * @module
 */
export { type Cassette, type CassetteEntry, type RecordOptions, recordFetch, replayFetch } from './cassette.ts'
export { type FallbackOptions, fallback } from './fallback.ts'
export { type LimitedOptions, limited } from './limited.ts'
export { type Limiter, type LimiterAsk, type LimiterOptions, type LimiterTurn, limiter, type Priority } from './limiter.ts'
export { type RotateKeysOptions, rotateKeys } from './rotate-keys.ts'
export { type Middleware, type RouteChoice, route, withMiddleware } from './route.ts'
