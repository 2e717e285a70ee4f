import type { JsonObject } from '../../contract/json.ts'
import type { Content, FileContent, ImageContent } from '../../contract/message/content.ts'
import { baseType, isMediaOf } from '../../contract/message/media.ts'
import { type FileLimits, isToBeCited } from '../kit/optional/media/media-rules.ts'

const imageFormats: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

const documentFormats: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
])

const videoFormats: ReadonlyMap<string, string> = new Map([
  ['video/mp4', 'mp4'],
  ['video/quicktime', 'mov'],
  ['video/x-matroska', 'mkv'],
  ['video/webm', 'webm'],
  ['video/x-flv', 'flv'],
  ['video/mpeg', 'mpeg'],
  ['video/x-ms-wmv', 'wmv'],
  ['video/3gpp', 'three_gp'],
])

/** Documents that Converse carries. */
export const documents: readonly string[] = [...documentFormats.keys()]
/** Videos that it carries. */
export const videos: readonly string[] = [...videoFormats.keys()]

/** Documents of one message. */
export const maxDocuments = 5
/** Bytes of one document. Newer Claude models and Nova read larger PDFs. */
const maxDocumentBytes = 4.5 * 1024 * 1024

/** What the service takes of documents in one message; `unlimited` are the types that may be larger. */
export function documentLimits(unlimited: readonly string[]): FileLimits {
  return { types: documents, most: maxDocuments, maxBytes: maxDocumentBytes, unlimited }
}

/** Whether a block is sent as a document, which has a name. */
export function isDocument(block: Content): boolean {
  return block.type === 'file' && documentFormats.has(baseType(block.mimeType))
}

/** Under which names they are sent: numbers from 1. */
export const documentName = /^document-(\d{1,6})$/

/** How a file is sent. */
interface FileForm {
  name: string
  /** A PDF is cited where nobody says otherwise. */
  citesPdf: boolean
  /** Whether any file may be. */
  cites: boolean
}

/** A file as a block of Converse; none for one that it does not carry. The service takes few characters in a name, and each once: it is a number. */
export function fileBlocks(file: FileContent, { name, citesPdf, cites }: FileForm): JsonObject[] {
  const { mimeType, data = '' } = file
  const video = videoFormats.get(baseType(mimeType))
  if (video !== undefined) return [{ video: { format: video, source: { bytes: data } } }]
  const format = documentFormats.get(baseType(mimeType))
  if (format === undefined) return []
  const context = [file.name, file.context].filter((words) => words !== undefined && words.trim() !== '').join(': ')
  // Claude sees the pages of a PDF, and not its text alone, where it is to cite.
  const isCited = cites && (file.citations === undefined ? citesPdf && format === 'pdf' : isToBeCited(file))
  const document = {
    ...{ format, name, source: { bytes: data } },
    ...(context !== '' && { context }),
    ...(isCited && { citations: { enabled: true } }),
  }
  return [{ document }]
}

/** A picture as a block of Converse; a line for one that it does not carry. */
export function imageBlock({ mimeType, data = '' }: ImageContent): JsonObject {
  const format = imageFormats.get(baseType(mimeType))
  return format === undefined ? { text: imageLeftOut(mimeType) } : { image: { format, source: { bytes: data } } }
}

/** Of what Converse carries, what `accepted` names. */
export function carried(accepted: readonly string[], pictures: readonly string[]): string[] {
  return [...pictures, ...documents, ...videos].filter((type) => isMediaOf(type, accepted))
}

/** What stands for an image of another format. */
function imageLeftOut(mimeType: string): string {
  return `(image left out: ${mimeType} is not png, jpeg, gif or webp)`
}
