/**
 * What the adapters of this package need of its core, and the package does not export.
 *
 * @module
 */
export { isLoopbackHost } from './base/private-host.ts'
export { startTimer, timerMs } from './base/timer.ts'
