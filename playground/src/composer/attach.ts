import { ConfigError, fileContent, imageContent } from '../../../src/index.ts'
import { bytesOf } from '../parts/figures.ts'
import type { Attachment } from '../state/conversation/attachments.ts'
import type { Draft } from '../state/conversation/draft.ts'

const picture = /^image\/(?:png|jpeg|gif|webp)$/
const document = /^(?:application\/(?:pdf|json)|text\/)/

/** Maximum bytes of a file: what every provider accepts in one request. */
const maxBytes = 20_000_000
const taken = 'Pictures (PNG, JPEG, GIF, WebP), PDF and text can be sent.'

/** Attaches files to the draft, and reports why others cannot be sent. */
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

/** `undefined` for an unsupported type. Rejects for an empty, too long or mislabeled file. */
async function attachmentOf(file: File): Promise<Attachment | undefined> {
  if (picture.test(file.type)) return imageContent(file, { maxBytes })
  // The model is asked to cite pages.
  const block = await fileContent(file, { maxBytes, citations: 'ifPossible' })
  return document.test(block.mimeType) ? block : undefined
}

/** The error names options, for programs; a visitor has a file. */
function whyNot(file: File, error: unknown): string {
  const name = `“${nameOf(file)}”`
  const { field, value } = ConfigError.isInstance(error) ? error : {}
  if (field === 'file') return `${name} is empty: there is nothing in it to send.`
  if (field === 'maxBytes')
    return `${name} is too long: it has ${bytesOf(file.size)}, and a file that goes with a message has at most ${bytesOf(maxBytes)}. Send a part of it.`
  if (field === 'mimeType' && value !== undefined)
    return `${name} is told to be of the type ${value}, and what is in it is something else. Save it anew as what it is, then attach it again.`
  if (field === 'mimeType') return `Nobody can tell what kind of file ${name} is. ${taken} Give a text a name that ends with .txt.`
  return `${name} cannot be read: it may have been moved or changed since it was picked. Attach it again.`
}

const nameOf = ({ name }: File) => (name.length > 100 ? `${name.slice(0, 100)}…` : name)
