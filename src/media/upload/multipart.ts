import { ProviderError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { FileService, KeptFile, Upload } from './keep.ts'
import { callService, type ServiceAccess, textIn } from './service-call.ts'

/** Files of Anthropic: 500 MB, kept until they are deleted unless told otherwise. Source: https://platform.claude.com/docs/en/build-with-claude/files */
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

/** Files of OpenAI: 512 MB, kept until they are deleted unless told otherwise. Source: https://platform.openai.com/docs/api-reference/files/create */
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
/** Pictures are taken by their bytes or an address alone. */
export const chatFiles = openAiFiles(/\/chat\/completions$/, false)

function kept(fileId: string, expiresAt: number | undefined): KeptFile {
  return expiresAt === undefined || Number.isNaN(expiresAt) ? { fileId } : { fileId, expiresAt }
}

/** Posts the file beside where the model is called. How much of a form has gone out nobody says: none of it, then all. */
async function send(upload: Upload, access: ServiceAccess, endpoint: RegExp, fields: readonly [string, string][]): Promise<JsonObject> {
  const { blob, name, onProgress } = upload
  const url = new URL(access.url)
  if (!endpoint.test(url.pathname))
    throw new ProviderError('other', `${access.service} keeps no files at ${url.origin}${url.pathname}. Check baseUrl.`)
  url.pathname = url.pathname.replace(endpoint, '/files')
  const form = new FormData()
  for (const [field, value] of fields) form.append(field, value)
  form.append('file', blob, name)
  onProgress({ sent: 0, total: blob.size })
  const { json } = await callService(access, url.href, { method: 'POST', headers: access.headers, body: form })
  onProgress({ sent: blob.size, total: blob.size })
  return json
}
