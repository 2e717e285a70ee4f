import { raceAbort } from '../../base/abort.ts'
import { mayLeadTo } from '../../base/private-host.ts'
import { startTimer } from '../../base/timer.ts'
import { ProviderError } from '../../contract/errors.ts'
import { type JsonObject, jsonObjectIn } from '../../contract/json.ts'
import { MediaError } from '../fetch-media.ts'
import { callService, type FileService, type KeptFile, type ServiceAccess, textIn, type Upload } from './service-call.ts'

/** Bytes per upload request. */
const pieceBytes = 8 * 1024 * 1024
/** Maximum time that Gemini may take to process a file, and the polling interval, in milliseconds. */
const maxWaitMs = 10 * 60_000
const firstWaitMs = 250
const longestWaitMs = 5_000

/** Gemini's Files API: at most 2 GB per file. Deletes files after 48 hours. Source: https://ai.google.dev/gemini-api/docs/files */
export const geminiFiles: FileService = {
  name: 'Google Gemini',
  maxBytes: 2 * 1024 * 1024 * 1024,
  takesPictures: true,
  keep: async (upload, access) => {
    const { begin, files } = addresses(access)
    const session = await beginUpload(upload, access, begin)
    const sent = await sendPieces(upload, access, session)
    return whenRead(jsonObjectIn(sent.file), access, files)
  },
}

/** Returns the URLs to start an upload and to read files. Query parameters, such as a key, come from the model's URL. */
function addresses({ url, service }: ServiceAccess): { begin: URL; files: (name: string) => URL } {
  const at = new URL(url)
  at.searchParams.delete('alt')
  const [, before = '', version] = /^(.*?)(\/v\d\w*)\/models\/[^/]+$/.exec(at.pathname) ?? []
  if (version === undefined)
    throw new ProviderError('other', `${service} does not store files at ${at.origin}${at.pathname}. Check baseUrl.`)
  const under = (path: string): URL => {
    const place = new URL(at)
    place.pathname = path
    return place
  }
  return { begin: under(`${before}/upload${version}/files`), files: (name) => under(`${before}${version}/${name}`) }
}

/** Announces the upload and returns the session URL. */
async function beginUpload({ blob, name }: Upload, access: ServiceAccess, begin: URL): Promise<URL> {
  const headers = {
    ...access.headers,
    'content-type': 'application/json',
    'x-goog-upload-protocol': 'resumable',
    'x-goog-upload-command': 'start',
    'x-goog-upload-header-content-length': String(blob.size),
    'x-goog-upload-header-content-type': blob.type,
  }
  const body = JSON.stringify({ file: { displayName: name.slice(0, 512), mimeType: blob.type, sizeBytes: String(blob.size) } })
  const answer = await callService(access, begin.href, { method: 'POST', headers, body })
  const session = URL.parse(answer.headers.get('x-goog-upload-url') ?? '')
  if (session !== null && (session.origin === begin.origin || mayLeadTo(begin, session))) return session
  throw new ProviderError('api', `${access.service} returned no upload URL, or one that is not allowed. Check baseUrl.`, {
    isRetryable: false,
  })
}

/** Uploads the file in pieces. Sends no credential, because the session URL authorizes the upload. */
async function sendPieces({ blob, onProgress }: Upload, access: ServiceAccess, session: URL): Promise<JsonObject> {
  for (let sent = 0; ; ) {
    onProgress({ sent, total: blob.size })
    const end = Math.min(sent + pieceBytes, blob.size)
    const isLast = end === blob.size
    const headers = { 'x-goog-upload-offset': String(sent), 'x-goog-upload-command': isLast ? 'upload, finalize' : 'upload' }
    const { json } = await callService(access, session.href, { method: 'POST', headers, body: blob.slice(sent, end) })
    sent = end
    if (!isLast) continue
    onProgress({ sent, total: blob.size })
    return json
  }
}

/** Polls until Gemini has processed the file, because earlier requests with the file fail. */
async function whenRead(first: JsonObject, access: ServiceAccess, files: (name: string) => URL): Promise<KeptFile> {
  let file = first
  let waited = 0
  for (let waitMs = firstWaitMs; file.state === 'PROCESSING'; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    if (waited >= maxWaitMs) throw new MediaError('timeout', `${access.service} did not process the file within ${maxWaitMs / 1000} s.`)
    await pause(waitMs, access.signal)
    waited += waitMs
    const at = files(textIn(file, 'name', access.service))
    file = (await callService(access, at.href, { method: 'GET', headers: access.headers })).json
  }
  if (file.state === 'FAILED') {
    const { message = 'it did not say why' } = jsonObjectIn(file.error)
    throw new MediaError('wrongType', `${access.service} cannot process the file: ${String(message).slice(0, 300)}.`)
  }
  const expiresAt = typeof file.expirationTime === 'string' ? Date.parse(file.expirationTime) : Number.NaN
  const fileId = textIn(file, 'uri', access.service)
  return Number.isNaN(expiresAt) ? { fileId } : { fileId, expiresAt }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let stop = (): void => undefined
  const over = new Promise<void>((resolve) => {
    stop = startTimer(ms, resolve)
  })
  await raceAbort(over, signal).finally(stop)
}
