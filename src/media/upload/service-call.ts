import { isRedirect, readBytes } from '../../base/http-answer.ts'
import { withoutSecret } from '../../base/text/redact.ts'
import { secretsIn } from '../../base/text/secrets.ts'
import { errorText, ProviderError } from '../../contract/errors.ts'
import { isJsonObject, type JsonObject } from '../../contract/json.ts'
import { userMessage } from '../../contract/message/message.ts'
import { classifyError } from '../../providers/kit/errors/classify.ts'
import { redirected } from '../../providers/kit/errors/provider-failure.ts'
import type { Model } from '../../types/model/model.ts'

/** Bytes of an answer that are read: it says what was kept, or why not. */
const maxAnswer = 64 * 1024

/** How a service is called beside its models: with the address, the headers and the key that its model is called with. */
export interface ServiceAccess {
  /** The service, for people. */
  service: string
  /** Where its model is called. */
  url: string
  /** Without the type of a body. */
  headers: Record<string, string>
  secrets: readonly string[]
  fetch: typeof fetch
  /** Owned by the caller. */
  signal: AbortSignal
}

/** How `model` is called with `credential`. Rejects with `ProviderError` for a key or address that cannot be sent. */
export async function accessOf(
  { config, provider }: Model,
  service: string,
  credential: string | undefined,
  signal: AbortSignal,
): Promise<ServiceAccess> {
  // Only the provider knows where its key goes.
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

/** What a service answered: its JSON, and the headers. */
export interface ServiceAnswer {
  json: JsonObject
  headers: Headers
}

/**
 * Makes one call. Rejects with `ProviderError` where the service refuses it, cannot be reached or answers no JSON, and with the reason of the signal. No secret
 * is in an error. Redirects are refused: a key must not follow them.
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
    // Not the error of the engine as `cause`: it may hold the headers.
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
    // Said below.
  }
  throw new ProviderError('api', `${service} answered an upload with something else than a JSON object. Check baseUrl.`, {
    isRetryable: false,
  })
}

/** The text `name` of an answer. Throws `ProviderError` `api` where there is none. */
export function textIn(json: JsonObject, name: string, service: string): string {
  const value = json[name]
  if (typeof value === 'string' && value !== '') return value
  throw new ProviderError('api', `${service} answered an upload without ${name}. Check baseUrl.`, { isRetryable: false })
}

/** How much of a file was sent. */
export interface UploadProgress {
  /** Bytes. */
  sent: number
  /** Bytes. */
  total: number
}

/** A file on its way to a service. */
export interface Upload {
  /** Its type is right. */
  blob: Blob
  name: string
  /** Seconds. */
  expiresAfter: number | undefined
  onProgress: (progress: UploadProgress) => void
}

/** What a service keeps. */
export interface KeptFile {
  fileId: string
  /** Epoch ms; absent where the service keeps it until it is deleted. */
  expiresAt?: number
}

/** How one service keeps files. */
export interface FileService {
  /** For people. */
  name: string
  /** How long it can be told to keep a file, in seconds; absent where it cannot be told. */
  lifetime?: readonly [least: number, most: number]
  /** Most bytes of a file. */
  maxBytes: number
  /** Whether a block with its id can be a picture. */
  takesPictures: boolean
  keep(upload: Upload, access: ServiceAccess): Promise<KeptFile>
}
