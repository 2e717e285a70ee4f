/**
 * Shares code with other adapters. Not an entry of the package: names here may change.
 *
 * @module
 */

export { keysOfServices } from './services.ts'
