import { aFile, aModel } from '../../base/argument-checks.ts'
import { toBase64 } from '../../base/base64.ts'
import { ConfigError, ProviderError } from '../../contract/errors.ts'
import { type FileCitations, type FileContent, fileCitations, type ImageContent } from '../../contract/message/content.ts'
import { headBytes, nameByType, typeOfFile } from '../../contract/message/media.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, aPositiveNumber, aSignal, aText, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import { MediaError } from '../fetch-media.ts'
import { geminiFiles } from './gemini.ts'
import { anthropicFiles, chatFiles, responsesFiles } from './multipart.ts'
import { accessOf, type FileService, type KeptFile, type Upload, type UploadProgress } from './service-call.ts'

/** Options for `uploadFile`: the file's name, type and lifetime, and progress. */
export interface UploadFileOptions {
  /** Stops the upload. The caller owns it. */
  signal?: AbortSignal
  /**
   * Called before the first byte, after the last, and after each MiB (Gemini: 8 MiB). In a browser only Gemini reports steps in between.
   */
  onProgress?: (progress: UploadProgress) => void
  /** File name. Default: the name of a `File`. */
  name?: string
  /** MIME type. Default: the type of the blob, otherwise detected from the bytes, otherwise from the name. */
  mimeType?: string
  /** Seconds that the provider keeps the file, at least 3,600. Default: until it is deleted. Gemini always deletes after 48 hours. */
  expiresAfter?: number
  /** Background that the model should know and that is not part of the file. */
  context?: string
  /** Whether the model should cite the file. */
  citations?: FileCitations
}

const ofUpload = optionsOf<UploadFileOptions>({
  signal: aSignal,
  onProgress: aFunction,
  name: aText,
  mimeType: aText,
  expiresAfter: aPositiveNumber,
  context: aText,
  citations: fileCitations,
})

const services: ReadonlyMap<string, FileService> = new Map([
  ['anthropicMessages', anthropicFiles],
  ['openAiCompletions', chatFiles],
  ['openAiResponses', responsesFiles],
  ['googleGenerativeAi', geminiFiles],
])

/**
 * Uploads a file to the provider of `model` and returns a content block that refers to it. Requests then contain an id instead of the
 * bytes.
 *
 * **Contract**
 * - Uses the model's base URL, key, headers and `fetch`. Supports Anthropic, OpenAI (Responses and Chat Completions) and Gemini. If the
 *   provider rejects the key, requests a key once more.
 * - The block's `expiresAt` is the time at which the provider deletes the file. A prompt with an expired block fails before the request is
 *   sent. In older messages, phi-core replaces the block with a line of text.
 * - For Gemini, waits up to ten minutes until the provider has processed the file.
 * - Rejects with `MediaError`: `unsupported` (the provider stores no files, or none of this type), `tooLarge`, `wrongType` or `timeout`.
 * - Rejects with `ConfigError` for input that is not a file, with `ProviderError` if the provider refuses it, or with the signal's reason.
 * - Never retries after a network error: the provider may have stored a file that it did not confirm.
 *
 * Source: docs/guides/many-documents.md
 */
export async function uploadFile(
  model: Model,
  file: Blob | Uint8Array,
  options: UploadFileOptions = {},
): Promise<ImageContent | FileContent> {
  checkOptions(model, aModel, 'model')
  checkOptions(file, aFile, 'file')
  checkOptions(options, ofUpload)
  const { api } = model.config
  if (model.unusable !== undefined) throw new ConfigError('invalidOption', model.unusable)
  if (model.answeredBy !== undefined)
    throw new ConfigError(
      'invalidOption',
      'This model combines several models, but a provider stores files only for its own. Pass the model that will read the file.',
    )
  const service = services.get(api)
  if (service === undefined)
    throw new MediaError(
      'unsupported',
      `Cannot upload files for ${model.config.id}: ${api} is not one of ${[...services.keys()].join(', ')}. Send the bytes in the message.`,
    )
  const upload = await uploadOf(file, options, service)
  const { signal = new AbortController().signal, context, citations } = options
  const kept = await keepWithKey(model, upload, service, signal)
  const { type: mimeType } = upload.blob
  if (mimeType.startsWith('image/')) return { type: 'image', mimeType, ...kept, api }
  return {
    ...{ type: 'file', mimeType, ...kept, api, name: upload.name },
    ...(context !== undefined && { context }),
    ...(citations !== undefined && { citations }),
  }
}

async function uploadOf(file: Blob | Uint8Array, options: UploadFileOptions, service: FileService): Promise<Upload> {
  const { onProgress = () => undefined, expiresAfter } = options
  const bare = file instanceof Blob ? file : new Blob([new Uint8Array(file)])
  const { size } = bare
  const given = options.name ?? (file instanceof File && file.name !== '' ? file.name : undefined)
  const what = given === undefined ? 'The file' : `The file ${JSON.stringify(given.slice(0, 100))}`
  if (size === 0) throw new ConfigError('invalidOption', `${what} is empty. Pass a file with content.`)
  if (size > service.maxBytes)
    throw new MediaError('tooLarge', `${what} has ${size} bytes, but ${service.name} stores at most ${service.maxBytes}.`)
  checkLifetime(expiresAfter, service)
  const type = options.mimeType ?? typeOfFile(bare.type, await headOf(bare), given)
  if (type === undefined) throw new ConfigError('invalidOption', `${what} has no detectable type. Pass mimeType.`)
  if (type.startsWith('image/') && !service.takesPictures)
    throw new MediaError('unsupported', `${service.name} does not accept images by id here. Send the bytes with imageContent.`)
  return { blob: new Blob([bare], { type }), name: given ?? nameByType('file', type), expiresAfter, onProgress }
}

function checkLifetime(seconds: number | undefined, { name, lifetime }: FileService): void {
  if (seconds === undefined) return
  const [least, most] = lifetime ?? [0, 0]
  if (lifetime === undefined)
    throw new ConfigError('invalidOption', `expiresAfter is ${seconds}, but ${name} has no setting for how long it keeps a file.`)
  if (seconds < least || seconds > most || !Number.isInteger(seconds))
    throw new ConfigError('invalidOption', `expiresAfter is ${seconds}; ${name} takes whole seconds from ${least} to ${most}.`)
}

/** Returns the first bytes as base64, enough to detect the type. */
async function headOf(blob: Blob): Promise<string> {
  return toBase64(new Uint8Array(await blob.slice(0, headBytes).arrayBuffer()))
}

/** Requests a new key once if the provider rejects the first, as model calls do. */
async function keepWithKey(model: Model, upload: Upload, service: FileService, signal: AbortSignal): Promise<KeptFile> {
  const { credentials } = model
  const keep = async (): Promise<KeptFile> => {
    signal.throwIfAborted()
    const credential = credentials && (await credentials.current(signal))
    return service.keep(upload, await accessOf(model, service.name, credential, signal))
  }
  try {
    return await keep()
  } catch (error) {
    const mayBeOld = credentials !== undefined && !('isStatic' in credentials) && ProviderError.isInstance(error) && error.code === 'auth'
    if (!mayBeOld) throw error
    await credentials.invalidate()
    return keep()
  }
}
