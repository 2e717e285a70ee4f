/**
 * What other adapters take from here. No entry of the package: names here are no promise.
 *
 * @module
 */

export { keysOfServices } from './services.ts'
