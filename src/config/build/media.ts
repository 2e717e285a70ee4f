import { ConfigError } from '../../contract/errors.ts'
import { fetchMedia } from '../../media/fetch-media.ts'
import type { ResolveMedia } from '../../types/model/media.ts'
import { fieldError, fieldOf, type Path } from '../config-error.ts'
import type { TrustRequest } from '../config-host.ts'
import type { AgentConfig } from '../schema/sections.ts'

const path: Path = ['media']

/** Every host that media are fetched from: a name may lead into the network of whoever runs the file. */
export function mediaRequests({ media }: AgentConfig): TrustRequest[] {
  return (media?.hosts ?? []).map((host, at): TrustRequest => ({ kind: 'media', field: fieldOf([...path, 'hosts', at]), what: host }))
}

/**
 * Fetches media as `[media]` says. Not by the `fetch` of the host, which is for models: it may bring their keys. Throws `ConfigError` at the key for what
 * is no host.
 */
export function resolveMediaOf({ media }: AgentConfig): ResolveMedia | undefined {
  if (media === undefined) return undefined
  const { hosts, max_bytes: maxBytes, timeout_secs: seconds } = media
  try {
    return fetchMedia({ hosts, ...(maxBytes !== undefined && { maxBytes }), ...(seconds !== undefined && { timeoutMs: seconds * 1000 }) })
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error
    throw fieldError('invalidField', [...path, 'hosts'], error.message)
  }
}
