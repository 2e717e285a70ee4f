import { ProviderError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { newId } from '../../contract/message/identity.ts'
import { callService, type FileService, type KeptFile, type ServiceAccess, textIn, type Upload } from './service-call.ts'

/**
 * Anthropic's Files API: at most 500 MB per file. Stores a file until it is deleted, unless `expiresAfter` is set. Source:
 * https://platform.claude.com/docs/en/build-with-claude/files
 */
export const anthropicFiles: FileService = {
  name: 'Anthropic',
  lifetime: [3600, 7_776_000],
  maxBytes: 500_000_000,
  takesPictures: true,
  keep: async (upload, access) => {
    const fields: [string, string][] = upload.expiresAfter === undefined ? [] : [['expires_in_seconds', String(upload.expiresAfter)]]
    const json = await send(upload, access, /\/messages$/, fields)
    const { expires_at: expires } = json
    return kept(textIn(json, 'id', access.service), typeof expires === 'string' ? Date.parse(expires) : undefined)
  },
}

/**
 * OpenAI's Files API: at most 512 MB per file. Stores a file until it is deleted, unless `expiresAfter` is set. Source:
 * https://platform.openai.com/docs/api-reference/files/create
 */
function openAiFiles(endpoint: RegExp, takesPictures: boolean): FileService {
  return {
    name: 'OpenAI',
    lifetime: [3600, 2_592_000],
    maxBytes: 512 * 1024 * 1024,
    takesPictures,
    keep: async (upload, access) => {
      const fields: [string, string][] = [['purpose', upload.blob.type.startsWith('image/') ? 'vision' : 'user_data']]
      if (upload.expiresAfter !== undefined)
        fields.push(['expires_after[anchor]', 'created_at'], ['expires_after[seconds]', String(upload.expiresAfter)])
      const json = await send(upload, access, endpoint, fields)
      const { expires_at: expires } = json
      return kept(textIn(json, 'id', access.service), typeof expires === 'number' ? expires * 1000 : undefined)
    },
  }
}

export const responsesFiles = openAiFiles(/\/responses$/, true)
/** Files for Chat Completions, which accepts images only as bytes or as a URL. */
export const chatFiles = openAiFiles(/\/chat\/completions$/, false)

function kept(fileId: string, expiresAt: number | undefined): KeptFile {
  return expiresAt === undefined || Number.isNaN(expiresAt) ? { fileId } : { fileId, expiresAt }
}

/** Posts the file to the `files` URL next to the model's endpoint. */
async function send(upload: Upload, access: ServiceAccess, endpoint: RegExp, fields: readonly [string, string][]): Promise<JsonObject> {
  const { blob, onProgress } = upload
  const url = new URL(access.url)
  if (!endpoint.test(url.pathname))
    throw new ProviderError('other', `${access.service} does not store files at ${url.origin}${url.pathname}. Check baseUrl.`)
  url.pathname = url.pathname.replace(endpoint, '/files')
  onProgress({ sent: 0, total: blob.size })
  const onSent = (sent: number): void => {
    if (sent > 0 && sent < blob.size) onProgress({ sent, total: blob.size })
  }
  const { headers, ...init } = formOf(upload, fields, onSent)
  const { json } = await callService(access, url.href, { method: 'POST', headers: { ...access.headers, ...headers }, ...init })
  onProgress({ sent: blob.size, total: blob.size })
  return json
}

/** Bytes per chunk. */
const formPieceBytes = 1024 * 1024

/** Builds the form with the file. Calls `onSent` with the bytes read so far, if the runtime streams request bodies. */
function formOf({ blob, name }: Upload, fields: readonly [string, string][], onSent: (sent: number) => void): RequestInit & FormHeaders {
  if (!sendsStreams()) {
    const form = new FormData()
    for (const [field, value] of fields) form.append(field, value)
    form.append('file', blob, name)
    return { headers: {}, body: form }
  }
  const boundary = `phi-${newId()}`
  const part = (field: string, value: string): string => `--${boundary}\r\ncontent-disposition: form-data; name="${field}"${value}\r\n`
  const texts = fields.map(([field, value]) => part(field, `\r\n\r\n${value}`)).join('')
  const head = new Blob([texts, part('file', `; filename="${quoted(name)}"\r\ncontent-type: ${blob.type}\r\n`)])
  const body = new Blob([head, blob, `\r\n--${boundary}--\r\n`])
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': String(body.size) }
  return { headers, body: counted(body, (sent) => onSent(sent - head.size)), ...{ duplex: 'half' } }
}

interface FormHeaders {
  headers: Record<string, string>
}

/**
 * Escapes a name as multipart forms require. Source:
 * https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data
 */
function quoted(name: string): string {
  return name.replace(/\r\n|\r|\n/g, '%0D%0A').replaceAll('"', '%22')
}

/** Streams the body in chunks. Calls `onSent` when the connection pulls the next chunk, because the previous chunk has then been sent. */
function counted(body: Blob, onSent: (sent: number) => void): ReadableStream<Uint8Array> {
  let sent = 0
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    if (sent > 0) onSent(sent)
    const piece = await body.slice(sent, sent + formPieceBytes).arrayBuffer()
    sent += piece.byteLength
    if (piece.byteLength === 0) controller.close()
    else controller.enqueue(new Uint8Array(piece))
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

/** Returns whether `fetch` can send a stream. Browsers cannot, or only over HTTP/2, which a program cannot select. */
function sendsStreams(): boolean {
  const asked = { method: 'POST', body: new ReadableStream(), duplex: 'half' }
  // Runtimes without stream support convert the stream to text and set a content type.
  return !isPage() && !new Request('https://stream.invalid', asked).headers.has('content-type')
}

/** Returns whether this is a browser page or its worker: only they have a base URL for relative URLs. */
function isPage(): boolean {
  try {
    return new Request('/').url !== ''
  } catch {
    return false
  }
}
