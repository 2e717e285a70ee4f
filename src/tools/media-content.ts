import { aFile } from '../base/argument-checks.ts'
import { toBase64 } from '../base/base64.ts'
import { ConfigError, type ConfigErrorOptions } from '../contract/errors.ts'
import { type FileCitations, type FileContent, fileCitations, type ImageContent } from '../contract/message/content.ts'
import { defaultMaxMediaBytes, sourceFault, typeOfFile } from '../contract/message/media.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aPositiveNumber, aText, options as optionsOf } from '../contract/shape/shape.ts'

/** Options for `imageContent`. */
export interface MediaOptions {
  /** File name. Default: the name of a `File`. */
  name?: string | undefined
  /** MIME type. Default: the blob's type, or else detected from the bytes or the name. */
  mimeType?: string | undefined
  /** Maximum size in bytes. Default: 20 MiB. */
  maxBytes?: number | undefined
}

/** Options for `fileContent`. */
export interface FileOptions extends MediaOptions {
  /** Background information for the model that is not part of the file. */
  context?: string | undefined
  /** Whether the model should cite the file. */
  citations?: FileCitations | undefined
}

const ofMedia = { name: aText, mimeType: aText, maxBytes: aPositiveNumber }
const mediaOptions = optionsOf<MediaOptions>(ofMedia)
const fileOptions = optionsOf<FileOptions>({ ...ofMedia, context: aText, citations: fileCitations })

/**
 * Creates a file block for a message from a `Blob`, a `File` or bytes.
 *
 * - Rejects with `ConfigError` `invalidOption` for an invalid value, an empty file or a file over `maxBytes`. Also rejects an unknown type,
 *   and bytes that contradict the type.
 * - `field` of the error is `file`, `maxBytes` or `mimeType`. For `mimeType`, `value` is the wrong type.
 * - Fetches nothing and does not open archives.
 *
 * Source: docs/guides/many-documents.md
 */
export async function fileContent(bytes: Blob | Uint8Array, options: FileOptions = {}): Promise<FileContent> {
  checkOptions(options, fileOptions)
  const { context, citations } = options
  const { data, mimeType, name } = await read(bytes, options)
  return checked({
    type: 'file',
    mimeType,
    data,
    ...(name !== undefined && { name }),
    ...(context !== undefined && { context }),
    ...(citations !== undefined && { citations }),
  })
}

/**
 * Creates an image block for a message. See {@link fileContent}. Rejects if the bytes are not an image. Source:
 * docs/guides/many-documents.md
 */
export async function imageContent(bytes: Blob | Uint8Array, options: MediaOptions = {}): Promise<ImageContent> {
  checkOptions(options, mediaOptions)
  const { data, mimeType } = await read(bytes, options)
  if (!mimeType.startsWith('image/'))
    refuse(`The file has type ${mimeType}, which is not an image. Pass an image, or use fileContent.`, ofType(mimeType))
  return checked({ type: 'image', mimeType, data })
}

/** Rejects content that a prompt would reject later, such as bytes of a different type or an SVG as an image. */
function checked<Media extends ImageContent | FileContent>(block: Media): Media {
  const fault = sourceFault(block, block.type === 'image' ? 'The picture' : 'The file', 'given')
  if (fault !== undefined) refuse(`${fault}.`, ofType(block.mimeType))
  return block
}

async function read(given: Blob | Uint8Array, options: MediaOptions) {
  checkOptions(given, aFile, 'file')
  const { name = nameOf(given), mimeType, maxBytes = defaultMaxMediaBytes } = options
  const what = name === undefined ? 'The file' : `The file ${JSON.stringify(name.slice(0, 100))}`
  const size = given instanceof Uint8Array ? given.length : given.size
  if (size === 0) refuse(`${what} is empty. Pass a file with content.`, { field: 'file' })
  if (size > maxBytes) {
    const sentence = `${what} has ${size} bytes, more than maxBytes (${maxBytes}). Upload it to the provider, or send part of it.`
    refuse(sentence, { field: 'maxBytes', value: String(size) })
  }
  const data = toBase64(given instanceof Uint8Array ? given : new Uint8Array(await given.arrayBuffer()))
  const type = mimeType ?? typeOfFile(given instanceof Uint8Array ? '' : given.type, data, name)
  if (type === undefined) refuse(`${what} has no detectable type. Pass mimeType.`, { field: 'mimeType' })
  return { data, mimeType: type, name }
}

function nameOf(given: Blob | Uint8Array): string | undefined {
  const name: unknown = Reflect.get(given, 'name')
  return typeof name === 'string' && name !== '' ? name : undefined
}

const ofType = (mimeType: string): ConfigErrorOptions => ({ field: 'mimeType', value: mimeType.slice(0, 100) })

function refuse(sentence: string, place: ConfigErrorOptions): never {
  throw new ConfigError('invalidOption', sentence, place)
}
