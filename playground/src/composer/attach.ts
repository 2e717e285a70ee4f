import { ConfigError, fileContent, imageContent } from '../../../src/index.ts'
import { bytesOf } from '../parts/figures.ts'
import type { Attachment } from '../state/conversation/attachments.ts'
import type { Draft } from '../state/conversation/draft.ts'

const picture = /^image\/(?:png|jpeg|gif|webp)$/
const document = /^(?:application\/(?:pdf|json)|text\/)/

/** Maximum file size in bytes, which every provider accepts in one request. */
const maxBytes = 20_000_000
const taken = 'You can send images (PNG, JPEG, GIF, WebP), PDF and text.'

/** Attaches files to the draft, and reports why the others cannot be sent. */
export async function attach({ attached, refused }: Pick<Draft, 'attached' | 'refused'>, files: Iterable<File>): Promise<void> {
  refused.value = []
  for (const file of files) {
    try {
      const block = await attachmentOf(file)
      if (block === undefined) refused.value = [...refused.value, `“${nameOf(file)}” is of the type ${file.type}. ${taken}`]
      else attached.value = [...attached.value, block]
    } catch (error) {
      refused.value = [...refused.value, whyNot(file, error)]
    }
  }
}

/** Returns `undefined` for an unsupported type. Rejects for an empty, too long or mislabeled file. */
async function attachmentOf(file: File): Promise<Attachment | undefined> {
  if (picture.test(file.type)) return imageContent(file, { maxBytes })
  // Enable citations of pages.
  const block = await fileContent(file, { maxBytes, citations: 'ifPossible' })
  return document.test(block.mimeType) ? block : undefined
}

/** The error mentions options, which mean nothing to a user with a file. */
function whyNot(file: File, error: unknown): string {
  const name = `“${nameOf(file)}”`
  const { field, value } = ConfigError.isInstance(error) ? error : {}
  if (field === 'file') return `${name} is empty. Attach a file with content.`
  if (field === 'maxBytes')
    return `${name} is too large: it has ${bytesOf(file.size)}, but the limit is ${bytesOf(maxBytes)}. Send part of it.`
  if (field === 'mimeType' && value !== undefined)
    return `${name} is declared as ${value}, but its content has another type. Save it in the right format, then attach it again.`
  if (field === 'mimeType') return `The type of ${name} is unknown. ${taken} Give a text file a name that ends with .txt.`
  return `Cannot read ${name}: it may have moved or changed since you selected it. Attach it again.`
}

const nameOf = ({ name }: File) => (name.length > 100 ? `${name.slice(0, 100)}…` : name)
