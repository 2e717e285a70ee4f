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

/** What a caller may say about an upload. */
export interface UploadFileOptions {
  /** Stops it; the caller owns it. */
  signal?: AbortSignal
  /** Told before the first byte and after the last; also after each MiB (Gemini: 8 MiB), but in a page to Gemini alone. */
  onProgress?: (progress: UploadProgress) => void
  /** What it is called; a `File` says so itself. */
  name?: string
  /** Default: what the blob says, else the bytes, else the name. */
  mimeType?: string
  /** Seconds that the service keeps it: from 3,600. Default: until somebody deletes it, and 48 hours at Gemini, which cannot be told. */
  expiresAfter?: number
  /** What a model should know of it that is no part of it. */
  context?: string
  /** Whether the model is to say what of it an answer rests on. */
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
 * Uploads a file to the service of `model`, and returns the block that names it there: requests then carry an id instead of the bytes.
 *
 * **Contract**
 * - It goes where the model is called, with its key, headers and `fetch`: Anthropic, OpenAI (Responses and Chat Completions), Gemini. A key that was
 *   rejected is asked for once more.
 * - `expiresAt` of the block says when the service forgets it. A prompt with a block that has expired fails before anything is sent; in older messages a
 *   line stands for it.
 * - Gemini reads files before it takes them: the promise waits for that, ten minutes at most.
 * - Rejects with `MediaError` `unsupported` (a service that keeps no files, or none of that kind), `tooLarge`, `wrongType` or `timeout`; with `ConfigError` for
 *   what cannot be an upload; with `ProviderError` for what the service refused; with the reason of the signal.
 * - Nothing is repeated after a failure of the network: a service may have kept what it did not confirm.
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
      'This model is made of several, and a file is kept by one service: pass the one that is to read it.',
    )
  const service = services.get(api)
  if (service === undefined)
    throw new MediaError(
      'unsupported',
      `${model.config.id} speaks ${api}: files are uploaded to ${[...services.keys()].join(', ')}. Send its bytes.`,
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
  if (size === 0) throw new ConfigError('invalidOption', `${what} is empty: there is nothing to upload.`)
  if (size > service.maxBytes)
    throw new MediaError('tooLarge', `${what} has ${size} bytes; ${service.name} keeps at most ${service.maxBytes}.`)
  checkLifetime(expiresAfter, service)
  const type = options.mimeType ?? typeOfFile(bare.type, await headOf(bare), given)
  if (type === undefined)
    throw new ConfigError('invalidOption', `${what} has no known type: neither its bytes nor its name say it. Pass mimeType.`)
  if (type.startsWith('image/') && !service.takesPictures)
    throw new MediaError('unsupported', `${service.name} takes no pictures by id here. Send the bytes, with imageContent.`)
  return { blob: new Blob([bare], { type }), name: given ?? nameByType('file', type), expiresAfter, onProgress }
}

function checkLifetime(seconds: number | undefined, { name, lifetime }: FileService): void {
  if (seconds === undefined) return
  const [least, most] = lifetime ?? [0, 0]
  if (lifetime === undefined)
    throw new ConfigError('invalidOption', `expiresAfter is ${seconds}, but ${name} cannot be told how long it keeps a file.`)
  if (seconds < least || seconds > most || !Number.isInteger(seconds))
    throw new ConfigError('invalidOption', `expiresAfter is ${seconds}; ${name} takes whole seconds from ${least} to ${most}.`)
}

/** Enough bytes to say what it is, as base64. */
async function headOf(blob: Blob): Promise<string> {
  return toBase64(new Uint8Array(await blob.slice(0, headBytes).arrayBuffer()))
}

/** A key that the service rejects is asked for once more, as for a model call. */
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
