import { fileContent, imageContent } from '../../../src/index.ts'
import type { Attachment } from '../state/conversation/attachments.ts'
import type { Draft } from '../state/conversation/draft.ts'

const picture = /^image\/(?:png|jpeg|gif|webp)$/
const document = /^(?:application\/(?:pdf|json)|text\/)/

/** Puts files to the draft, and says of each that cannot be sent why. */
export async function attach({ attached, refused }: Draft, files: Iterable<File>): Promise<void> {
  refused.value = []
  for (const file of files) {
    try {
      attached.value = [...attached.value, await attachmentOf(file)]
    } catch (error) {
      refused.value = [...refused.value, error instanceof Error ? error.message : String(error)]
    }
  }
}

/** Rejects for what is empty, too long, or of another type. */
async function attachmentOf(file: File): Promise<Attachment> {
  if (picture.test(file.type)) return imageContent(file)
  // A model is asked to say on which pages its answer rests.
  const block = await fileContent(file, { citations: 'ifPossible' })
  if (document.test(block.mimeType)) return block
  throw new TypeError(`“${file.name}” is of the type ${block.mimeType}. Pictures (PNG, JPEG, GIF, WebP), PDF and text can be sent.`)
}
