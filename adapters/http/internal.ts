/**
 * What other hosts of live sessions in this package take from here. No entry of the package: names here are no promise.
 *
 * @module
 */
export { shareOfNamed } from './access/authorize.ts'
export { isHost } from './access/loopback.ts'
export { soonMs } from './access/problem.ts'
export { maxAttempts } from './live/live-session-host.ts'
export { progressOf } from './live/unfinished-run.ts'
export { routeDefaults } from './routes/route-options.ts'
export { liveSessionRoutes } from './routes/session-routes.ts'
