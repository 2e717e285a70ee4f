import { isRedirect, readBytes } from '../../base/http-answer.ts'
import { withoutSecret } from '../../base/text/redact.ts'
import { secretsIn } from '../../base/text/secrets.ts'
import { errorText, ProviderError } from '../../contract/errors.ts'
import { isJsonObject, type JsonObject } from '../../contract/json.ts'
import { userMessage } from '../../contract/message/message.ts'
import { classifyError } from '../../providers/kit/errors/classify.ts'
import { redirected } from '../../providers/kit/errors/provider-failure.ts'
import type { Model } from '../../types/model/model.ts'

/** Maximum bytes of a response: it holds only a file's metadata or an error. */
const maxAnswer = 64 * 1024

/** Access to a provider's other endpoints: the model's base URL, headers and key. */
export interface ServiceAccess {
  /** Provider name for errors. */
  service: string
  /** URL of the model endpoint. */
  url: string
  /** Headers without `content-type`. */
  headers: Record<string, string>
  secrets: readonly string[]
  fetch: typeof fetch
  /** Owned by the caller. */
  signal: AbortSignal
}

/** Returns the URL and headers for calls with `credential`. Rejects with `ProviderError` if the key or the base URL cannot be sent. */
export async function accessOf(
  { config, provider }: Model,
  service: string,
  credential: string | undefined,
  signal: AbortSignal,
): Promise<ServiceAccess> {
  // Only the provider knows which header carries its key.
  const { url, headers } = await provider.encode({
    model: config,
    ...(credential !== undefined && { credential }),
    systemPrompt: '',
    messages: [userMessage('-')],
    tools: [],
    thinking: 'off',
    cache: { type: 'disabled' },
  })
  const { 'content-type': _json, ...kept } = headers
  const secrets = [...(credential === undefined ? [] : [credential]), ...secretsIn(url, headers)]
  return { service, url, headers: kept, secrets, fetch: provider.fetch ?? ((input, init) => fetch(input, init)), signal }
}

/** A provider's response: its JSON and headers. */
export interface ServiceAnswer {
  json: JsonObject
  headers: Headers
}

/**
 * Sends one request.
 *
 * - Rejects with `ProviderError` if the provider refuses the call, cannot be reached or returns no JSON.
 * - Rejects with the signal's reason.
 * - Errors contain no secrets. Refuses redirects, so that the key cannot leak to another host.
 */
export async function callService(access: ServiceAccess, url: string, init: RequestInit): Promise<ServiceAnswer> {
  const { service, secrets, signal, fetch: send } = access
  try {
    const response = await send(url, { ...init, redirect: 'manual', signal })
    const { bytes } = await readBytes(response, maxAnswer)
    const body = new TextDecoder().decode(bytes)
    if (response.ok) return { json: jsonOf(body, service), headers: response.headers }
    if (isRedirect(response)) throw redirected(service, response.status)
    throw classifyError({ service, url, status: response.status, headers: response.headers, body, credential: secrets })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof ProviderError) throw error
    // Do not set the engine's error as `cause`, because it may contain the headers.
    const { cause }: { cause?: unknown } = Object(error)
    const why = withoutSecret(errorText(cause instanceof Error ? cause : error), secrets)
    throw new ProviderError('network', `${service} could not be reached at ${new URL(url).origin}: ${why}.`)
  }
}

function jsonOf(body: string, service: string): JsonObject {
  try {
    const value: unknown = body === '' ? {} : JSON.parse(body)
    if (isJsonObject(value)) return value
  } catch {
    // The check below throws.
  }
  throw new ProviderError('api', `${service} responded to an upload with something other than a JSON object. Check baseUrl.`, {
    isRetryable: false,
  })
}

/** Returns the text field `name` of a response. Throws `ProviderError` `api` if it is missing. */
export function textIn(json: JsonObject, name: string, service: string): string {
  const value = json[name]
  if (typeof value === 'string' && value !== '') return value
  throw new ProviderError('api', `${service} responded to an upload without ${name}. Check baseUrl.`, { isRetryable: false })
}

/** Progress of a running upload, in bytes. */
export interface UploadProgress {
  /** Bytes sent so far. */
  sent: number
  /** Size of the file in bytes. */
  total: number
}

/** A file to upload. */
export interface Upload {
  /** `type` is already checked. */
  blob: Blob
  name: string
  /** Lifetime in seconds. */
  expiresAfter: number | undefined
  onProgress: (progress: UploadProgress) => void
}

/** A file that the provider stored. */
export interface KeptFile {
  fileId: string
  /** Epoch milliseconds. Absent if the provider keeps the file until it is deleted. */
  expiresAt?: number
}

/** A provider's file API. */
export interface FileService {
  /** Provider name for messages. */
  name: string
  /** Range of `expiresAfter` in seconds. Absent if the provider does not support it. */
  lifetime?: readonly [least: number, most: number]
  /** Maximum size of a file in bytes. */
  maxBytes: number
  /** Whether an image block can refer to an uploaded file. */
  takesPictures: boolean
  keep(upload: Upload, access: ServiceAccess): Promise<KeptFile>
}
