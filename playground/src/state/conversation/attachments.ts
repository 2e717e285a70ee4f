import type { Content, FileContent, ImageContent, PromptInput } from '../../../../src/index.ts'

/** Files attached to a text. */
export type Attachment = ImageContent | FileContent

/** Creates a prompt from `text` and its files. */
export function promptOf(text: string, media: readonly Attachment[]): PromptInput {
  if (media.length === 0) return text
  return { role: 'user', content: text === '' ? [...media] : [{ type: 'text', text }, ...media] }
}

/** Returns a message's images and files. */
export function mediaOf(content: readonly Content[]): Attachment[] {
  return content.filter((block) => block.type === 'image' || block.type === 'file')
}
