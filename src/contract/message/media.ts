import { type ApiProtocol, apiProtocol } from '../model/model-config.ts'
import { aNumber, aText, type FieldsOf, object, optional, type Reading, type ShapeOf } from '../shape/shape.ts'

const storedBytesFields = {
  /** SHA-256 of the bytes, in hex. */
  hash: aText,
  /** Size in bytes. */
  bytes: aNumber,
}

/** Media bytes stored next to a session's log. `SessionStore.blob` reads them. Source: docs/concepts/sessions.md */
export interface StoredBytes extends FieldsOf<typeof storedBytesFields> {}
const storedBytes: ShapeOf<StoredBytes> = object<StoredBytes>(storedBytesFields)

/** Returns whether a string is a valid hash. The check matters because hashes become part of file names, keys and URLs. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

/** Media with more base64 characters than this are stored separately from the log, once per hash. */
export const inlineMediaChars = 64 * 1024

/** Source of an image or file: exactly one of `data`, `url`, `fileId` and `blob`. */
export const sourceFields = {
  /** Base64 bytes without a `data:` prefix. */
  data: optional(aText),
  /** An `https:` URL, fetched by the provider or by `resolveMedia`. */
  url: optional(aText),
  /** Id of a file uploaded to the provider of `api`. */
  fileId: optional(aText),
  api: optional(apiProtocol),
  /** Reference to bytes in the session's store. Only the store sets it. The reference is invalid in other sessions and in client input. */
  blob: optional(storedBytes),
  /** Expiry time of the uploaded file in epoch milliseconds. Absent if unknown. */
  expiresAt: optional(aNumber),
}

/** Fields of every media block. */
interface MediaFields {
  mimeType: string
  data?: string | undefined
  url?: string | undefined
  fileId?: string | undefined
  api?: ApiProtocol | undefined
  blob?: StoredBytes | undefined
  name?: string | undefined
}

/** Where the bytes are. */
export type MediaSource =
  | { type: 'data'; data: string }
  | { type: 'url'; url: string }
  | { type: 'fileId'; fileId: string; api: ApiProtocol }

/** Returns the source of a media block. Returns `undefined` for blocks from newer versions and for blocks whose bytes are not loaded. */
export function sourceOf({ data, url, fileId, api }: MediaFields): MediaSource {
  if (data !== undefined) return { type: 'data', data }
  if (url !== undefined) return { type: 'url', url }
  return fileId === undefined ? { type: 'data', data: '' } : { type: 'fileId', fileId, api: api ?? '' }
}

/**
 * Returns the reason why the source of the block at `path` is invalid, or `undefined`. Also decodes and checks the data of caller input.
 */
export function sourceFault(block: unknown, path: string, reading: Reading): string | undefined {
  if (reading === 'logged') return undefined
  const { data, url, fileId, api, blob, mimeType = '' } = Object(block) as Partial<MediaFields> // its fields were checked
  const given = [data, url, fileId, blob].filter((source) => source !== undefined)
  if (given.length !== 1) return `${path} sets ${given.length} of data, url and fileId; set exactly one`
  if (url !== undefined && !isHttpsAddress(url)) return `${path}.url is not an https URL. Pass an https URL, or the bytes as data`
  if (fileId !== undefined && api === undefined)
    return `${path}.fileId requires api, which names the API that stores the file, such as api: 'anthropicMessages'`
  return data !== undefined && reading === 'given' ? dataFault(data, mimeType, path) : undefined
}

/** Returns whether a URL may be passed to a provider to fetch. */
export function isHttpsAddress(url: string): boolean {
  return /^https:\/\/[^/]/i.test(url)
}

/** Returns whether `text` is complete, padded base64. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

function dataFault(data: string, mimeType: string, path: string): string | undefined {
  // Checked first, because decoding takes time.
  if (data.length > (maxInlineBytes / 3) * 4 + 4)
    return `${path}.data has about ${Math.floor(data.length * 0.75)} bytes, but no provider accepts more than ${maxInlineBytes} inline. Upload the file, or send part of it`
  if (/^data:/i.test(data)) return `${path}.data begins with "data:". Pass only the base64 after the comma, and the type as mimeType`
  if (/^(?:https?|file|blob):/i.test(data)) return `${path}.data is a URL. Pass an https URL as url, or the bytes as base64`
  if (data === '') return `${path}.data is empty. Pass a file with content`
  if (!isBase64(data)) return `${path}.data is not base64. Encode the bytes with padding and without line breaks`
  const type = baseType(mimeType)
  if (type === 'image/svg+xml')
    return `${path} is an SVG, which no provider accepts as an image and which can contain scripts. Convert it to PNG, or send it as a text/plain file`
  const isType = typeByBytes(data)
  // If the signature belongs to an image, the image is sent with its actual type, even if the declared subtype is wrong.
  const isPicture =
    type.startsWith('image/') && isType?.startsWith('image/') === true && (isType !== 'image/png' || headOf(data).startsWith('IHDR', 12))
  const isRight = isType === undefined ? !hasDetectableType(type, data) : isType === type || isPicture || !isMediaOf(type, checkedTypes)
  if (isRight) return undefined
  const found = isType ?? (type === 'application/pdf' ? 'not a PDF' : 'not of that type')
  return `${path} is declared as ${mimeType.slice(0, 100)}, but its bytes are ${found}. A provider would reject it in every later request`
}

/** Returns whether unrecognised bytes contradict `type`. Too few bytes never contradict it. */
function hasDetectableType(type: string, data: string): boolean {
  return type === 'application/pdf' || (byteLengthOf(data) >= longestSignature && signedTypes.has(type))
}

/** Default maximum bytes of a block: the size that every provider accepts in one request. */
export const defaultMaxMediaBytes = 20 * 1024 * 1024

/** Maximum bytes of an inline file for any provider: 100 MB of base64, for Gemini. */
export const maxInlineBytes = 75 * 1024 * 1024

/** Types whose files always start with a known signature, and the length of the longest signature. */
const signedTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'audio/wav'])
const longestSignature = 12

/** Types that are detected from their bytes. */
export const checkedTypes = ['image/*', 'application/pdf', 'audio/wav']

const otherSpellings: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
])

/** Returns the MIME type without parameters, in canonical spelling. */
export function baseType(mimeType: string): string {
  const type = (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase()
  return otherSpellings.get(type) ?? type
}

/** Returns a block's URL, or a `data:` URL with its bytes. */
export function addressOf(block: MediaFields): string {
  const source = sourceOf(block)
  return source.type === 'url' ? source.url : `data:${baseType(block.mimeType)};base64,${source.type === 'data' ? source.data : ''}`
}

/** Returns the number of bytes that base64 `data` decodes to. */
export function byteLengthOf(data: string): number {
  return Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)
}

/** Returns the size of a block in bytes, as far as known. */
export function mediaBytes({ data, blob }: Pick<MediaFields, 'data' | 'blob'>): number {
  return blob?.bytes ?? byteLengthOf(data ?? '')
}

/** Returns whether `mimeType` matches one of `accepted`, each a type or a family such as `image/*`. */
export function isMediaOf(mimeType: string, accepted: readonly string[]): boolean {
  const type = baseType(mimeType)
  return accepted.some((each) => each === '*/*' || each === type || (each.endsWith('/*') && type.startsWith(each.slice(0, -1))))
}

/** MIME types of text files, sent as text if the model does not accept the file type. */
export function isTextType(mimeType: string): boolean {
  return isMediaOf(mimeType, [
    'text/*',
    'application/json',
    'application/xml',
    'application/yaml',
    'application/toml',
    'application/javascript',
  ])
}

/** Number of leading bytes that identify a file type. Divisible by 3, so their base64 is a prefix of the file's base64. */
export const headBytes = 1026

/** Detects the MIME type from the first bytes of base64 `data`. `undefined` if unknown. */
export function typeByBytes(data: string): string | undefined {
  const head = headOf(data)
  if (head.startsWith('\x89PNG\r\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF8')) return 'image/gif'
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp'
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WAVE') return 'audio/wav'
  if (head.includes('%PDF-')) return 'application/pdf'
  return /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*</.test(head) ? 'a document of text' : undefined
}

/** Decodes the first bytes of `data`, one character each. */
function headOf(data: string): string {
  try {
    return atob(data.slice(0, (headBytes / 3) * 4))
  } catch {
    return ''
  }
}

/** MIME types by file extension. */
const typesByName: ReadonlyMap<string, string> = new Map(
  Object.entries({
    pdf: 'application/pdf',
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    bmp: 'image/bmp',
    txt: 'text/plain',
    md: 'text/markdown',
    csv: 'text/csv',
    html: 'text/html',
    json: 'application/json',
    xml: 'application/xml',
    yaml: 'application/yaml',
    yml: 'application/yaml',
    doc: 'application/msword',
    xls: 'application/vnd.ms-excel',
    ppt: 'application/vnd.ms-powerpoint',
    odt: 'application/vnd.oasis.opendocument.text',
    rtf: 'application/rtf',
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    mp3: 'audio/mpeg',
    wav: 'audio/wav',
    mp4: 'video/mp4',
    webm: 'video/webm',
    mov: 'video/quicktime',
  }),
)

/** Detects the MIME type from a file extension. `undefined` if unknown. */
export function typeByName(name: string): string | undefined {
  return typesByName.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase())
}

/**
 * Returns the declared MIME type of a file. Otherwise detects the type from the first bytes (base64) or the name. `undefined` if unknown.
 */
export function typeOfFile(statedType: string, head: string, name: string | undefined): string | undefined {
  if (statedType !== '' && statedType !== 'application/octet-stream') return statedType.split(';', 1)[0]
  const byBytes = typeByBytes(head)
  if (byBytes?.includes('/') === true) return byBytes
  return name === undefined ? undefined : typeByName(name)
}

/** Builds a file name from `stem` and the extension for the type, if known. */
export function nameByType(stem: string, mimeType: string): string {
  const type = baseType(mimeType)
  const end = [...typesByName].find(([, each]) => each === type)?.[0]
  return end === undefined ? stem : `${stem}.${end}`
}
