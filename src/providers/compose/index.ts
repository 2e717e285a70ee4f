/**
 * Models made of models: another one when a call fails, one per request, several keys, code around each call, calls that were recorded. They cost nothing where they are not
 * used.
 *
 * @module
 */
export { type Cassette, type CassetteEntry, type RecordOptions, recordFetch, replayFetch } from './cassette.ts'
export { type FallbackOptions, fallback } from './fallback.ts'
export {
  type LimitedOptions,
  type Limiter,
  type LimiterOptions,
  limited,
  limiter,
  type Priority,
  type Turn,
  type TurnAsk,
} from './limiter.ts'
export { type RotateKeysOptions, rotateKeys } from './rotate-keys.ts'
export { type Middleware, type RouteChoice, route, withMiddleware } from './route.ts'
