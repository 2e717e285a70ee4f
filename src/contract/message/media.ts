import { type ApiProtocol, apiProtocol } from '../model/model-config.ts'
import { aNumber, aText, type FieldsOf, object, optional, type Reading, type ShapeOf } from '../shape/shape.ts'

const storedBytesFields = {
  /** SHA-256 of the bytes, in hex. */
  hash: aText,
  /** How many there are. */
  bytes: aNumber,
}

/** Bytes that a session keeps beside its log; `SessionStore.blob` gives them. Source: docs/concepts/sessions.md */
export interface StoredBytes extends FieldsOf<typeof storedBytesFields> {}
const storedBytes: ShapeOf<StoredBytes> = object<StoredBytes>(storedBytesFields)

/** Whether a text can be the name of bytes: it becomes a part of file names, keys and addresses. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

/** Media with more characters of base64 than this are kept beside a log, once, under their hash. */
export const inlineMediaChars = 64 * 1024

/** Where the bytes of a picture or a file are: exactly one of `data`, `url`, `fileId` and `blob` is there. */
export const sourceFields = {
  /** The bytes, as base64 without a `data:` prefix. */
  data: optional(aText),
  /** An `https:` address that the service fetches itself, or `resolveMedia` where it does not. */
  url: optional(aText),
  /** The name under which a service keeps an uploaded file; `api` says which service. */
  fileId: optional(aText),
  api: optional(apiProtocol),
  /** In what was read of a session: its store has the bytes. For no other session, and no client of a server can hand it in. */
  blob: optional(storedBytes),
  /** When the service forgets an uploaded file, epoch ms. Absent: nobody said. */
  expiresAt: optional(aNumber),
}

/** What every block of media has. */
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

/** Where the bytes of `block` are. Of a block of another version, or one that `readyMedia` has yet to replace, no bytes. */
export function sourceOf({ data, url, fileId, api }: MediaFields): MediaSource {
  if (data !== undefined) return { type: 'data', data }
  if (url !== undefined) return { type: 'url', url }
  return fileId === undefined ? { type: 'data', data: '' } : { type: 'fileId', fileId, api: api ?? '' }
}

/** What is wrong with the source of a block at `path`; `undefined` where nothing is. What a caller hands in is also looked at inside. */
export function sourceFault(block: unknown, path: string, reading: Reading): string | undefined {
  if (reading === 'logged') return undefined
  const { data, url, fileId, api, blob, mimeType = '' } = Object(block) as Partial<MediaFields> // its fields were checked
  const given = [data, url, fileId, blob].filter((source) => source !== undefined)
  if (given.length !== 1) return `${path} has ${given.length} of data, url and fileId; exactly one says where the bytes are`
  if (url !== undefined && !isHttpsAddress(url))
    return `${path}.url is no https address. Pass the bytes as data, or an address that begins with https://`
  if (fileId !== undefined && api === undefined)
    return `${path}.fileId has no api beside it: say whose file it is, such as api: 'anthropicMessages'`
  return data !== undefined && reading === 'given' ? dataFault(data, mimeType, path) : undefined
}

/** Whether a service may be told to fetch a file from there. */
export function isHttpsAddress(url: string): boolean {
  return /^https:\/\/[^/]/i.test(url)
}

/** Whether `text` is base64, whole and padded. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

function dataFault(data: string, mimeType: string, path: string): string | undefined {
  // First: looking into it takes time.
  if (data.length > (maxInlineBytes / 3) * 4 + 4)
    return `${path}.data has about ${Math.floor(data.length * 0.75)} bytes, and no service takes more than ${maxInlineBytes} of a file within a request. Upload it, or send a part`
  if (/^data:/i.test(data))
    return `${path}.data begins with "data:". Give the base64 alone, which stands behind the comma, and the type as mimeType`
  if (/^(?:https?|file|blob):/i.test(data)) return `${path}.data is an address. Give an https one as url, else the bytes as base64`
  if (data === '') return `${path}.data is empty: there is nothing to send`
  if (!isBase64(data)) return `${path}.data is no base64. Encode the bytes, with padding and without line breaks`
  const type = baseType(mimeType)
  if (type === 'image/svg+xml')
    return `${path} is an SVG, which no service takes as a picture, and which can hold scripts. Draw it as a PNG, or send it as a file of the type text/plain`
  const isType = typeByBytes(data)
  // A picture of another kind is sent as what it is, if it begins as such a picture does.
  const isPicture =
    type.startsWith('image/') && isType?.startsWith('image/') === true && (isType !== 'image/png' || headOf(data).startsWith('IHDR', 12))
  const isRight = isType === undefined ? !toldByBytes(type, data) : isType === type || isPicture || !isMediaOf(type, checkedTypes)
  if (isRight) return undefined
  const found = isType ?? (type === 'application/pdf' ? 'no PDF' : 'none of that type')
  return `${path} is told to be ${mimeType.slice(0, 100)}, and its bytes are ${found}. A service would refuse it with every later request`
}

/** Whether bytes that say nothing are wrong for `type`: of so few nobody can say. */
function toldByBytes(type: string, data: string): boolean {
  return type === 'application/pdf' || (byteLengthOf(data) >= longestSignature && signedTypes.has(type))
}

/** The most bytes that one block takes unless the caller says otherwise: what every service takes in one request. */
export const defaultMaxMediaBytes = 20 * 1024 * 1024

/** The most bytes of a file that any service takes within a request: 100 MB of base64, of Gemini. */
export const maxInlineBytes = 75 * 1024 * 1024

/** Types of which each file begins with a signature that is known, and the bytes of the longest one. */
const signedTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'audio/wav'])
const longestSignature = 12

/** Types whose bytes are told apart from others. */
export const checkedTypes = ['image/*', 'application/pdf', 'audio/wav']

const otherSpellings: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
])

/** The type alone, as services spell it. */
export function baseType(mimeType: string): string {
  const type = (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase()
  return otherSpellings.get(type) ?? type
}

/** The address of a block: its own, or one that holds its bytes. */
export function addressOf(block: MediaFields): string {
  const source = sourceOf(block)
  return source.type === 'url' ? source.url : `data:${baseType(block.mimeType)};base64,${source.type === 'data' ? source.data : ''}`
}

/** Bytes that `data`, base64, stands for. */
export function byteLengthOf(data: string): number {
  return Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)
}

/** How many bytes a block has, as far as it says so. */
export function mediaBytes({ data, blob }: Pick<MediaFields, 'data' | 'blob'>): number {
  return blob?.bytes ?? byteLengthOf(data ?? '')
}

/** Whether `mimeType` is one of `accepted`, each a type or a family such as `image/*`. */
export function isMediaOf(mimeType: string, accepted: readonly string[]): boolean {
  const type = baseType(mimeType)
  return accepted.some((each) => each === '*/*' || each === type || (each.endsWith('/*') && type.startsWith(each.slice(0, -1))))
}

/** Kinds of files that are text, and are sent as text where a model takes no such file. */
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

/** Bytes at the beginning of a file that say what it is; divisible by 3, so that base64 of them is the beginning of the base64 of all. */
export const headBytes = 1026

/** The type that the first bytes of `data` (base64) say; `undefined` where they say none that is known. */
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

/** The first bytes of `data`, one character each. */
function headOf(data: string): string {
  try {
    return atob(data.slice(0, (headBytes / 3) * 4))
  } catch {
    return ''
  }
}

/** Types that the end of a name says. */
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

/** The type that the end of the name of a file says; `undefined` where it says none that is known. */
export function typeByName(name: string): string | undefined {
  return typesByName.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase())
}

/** The type of a file: what is said of it, else what its first bytes (base64) say, else its name; `undefined` where nothing says it. */
export function typeOfFile(said: string, head: string, name: string | undefined): string | undefined {
  if (said !== '' && said !== 'application/octet-stream') return said.split(';', 1)[0]
  const byBytes = typeByBytes(head)
  if (byBytes?.includes('/') === true) return byBytes
  return name === undefined ? undefined : typeByName(name)
}

/** The name of a file that has none: `stem`, and the end that says its type, where that is known. */
export function nameByType(stem: string, mimeType: string): string {
  const type = baseType(mimeType)
  const end = [...typesByName].find(([, each]) => each === type)?.[0]
  return end === undefined ? stem : `${stem}.${end}`
}
