import type { Content } from '../../../contract/message/content.ts'

/** Returns what a result without text says of its media, which stand elsewhere. */
export function seeAttached(content: readonly Content[]): string {
  return content.every(({ type }) => type === 'image') ? '(see attached image)' : '(see attached files)'
}
