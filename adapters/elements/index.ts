export { defineElements } from './define.ts'
export type { PhiChat } from './phi-chat-options.ts'
export type { Words } from './words.ts'
