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

/** Document types of Converse. */
export const documents: readonly string[] = [...documentFormats.keys()]
/** Video types of Converse. */
export const videos: readonly string[] = [...videoFormats.keys()]

/** Maximum documents per message. */
export const maxDocuments = 5
/** Maximum bytes per document. Newer Claude models and Nova accept larger PDFs. */
const maxDocumentBytes = 4.5 * 1024 * 1024

/** Returns the document limits per message. `unlimited` lists types without a size limit. */
export function documentLimits(unlimited: readonly string[]): FileLimits {
  return { types: documents, most: maxDocuments, maxBytes: maxDocumentBytes, unlimited }
}

/** Returns whether a block is sent as a document, which requires a name. */
export function isDocument(block: Content): boolean {
  return block.type === 'file' && documentFormats.has(baseType(block.mimeType))
}

/** Generates document names: numbers from 1. */
export const documentName = /^document-(\d{1,6})$/

/** Options for encoding a file. */
interface FileForm {
  name: string
  /** Whether PDFs are cited by default. */
  citesPdf: boolean
  /** Whether files may be cited. */
  cites: boolean
}

/**
 * Encodes a file. Empty if Converse does not support it. Uses numbers as names, because the API allows few characters and no duplicates.
 */
export function fileBlocks(file: FileContent, { name, citesPdf, cites }: FileForm): JsonObject[] {
  const { mimeType, data = '' } = file
  const video = videoFormats.get(baseType(mimeType))
  if (video !== undefined) return [{ video: { format: video, source: { bytes: data } } }]
  const format = documentFormats.get(baseType(mimeType))
  if (format === undefined) return []
  const context = [file.name, file.context].filter((words) => words !== undefined && words.trim() !== '').join(': ')
  // Claude sees the pages of a PDF, not only the text, if citations are enabled.
  const isCited = cites && (file.citations === undefined ? citesPdf && format === 'pdf' : isToBeCited(file))
  const document = {
    ...{ format, name, source: { bytes: data } },
    ...(context !== '' && { context }),
    ...(isCited && { citations: { enabled: true } }),
  }
  return [{ document }]
}

/** Encodes an image. Encodes an unsupported image as a line of text. */
export function imageBlock({ mimeType, data = '' }: ImageContent): JsonObject {
  const format = imageFormats.get(baseType(mimeType))
  return format === undefined ? { text: imageLeftOut(mimeType) } : { image: { format, source: { bytes: data } } }
}

/** Returns the types that both Converse and `accepted` support. */
export function carried(accepted: readonly string[], pictures: readonly string[]): string[] {
  return [...pictures, ...documents, ...videos].filter((type) => isMediaOf(type, accepted))
}

/** Returns the text that replaces an unsupported image. */
function imageLeftOut(mimeType: string): string {
  return `(image left out: ${mimeType} is not png, jpeg, gif or webp)`
}
