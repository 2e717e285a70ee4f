// Loaded by a conversation whose text appears at an even pace.

export { smoothText } from '../../../src/store.ts'
