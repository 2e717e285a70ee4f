/**
 * Code shared with other adapters. Not a public entry point: names may change.
 *
 * @module
 */

export { keysOfServices } from './services.ts'
