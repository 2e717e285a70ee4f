import { joinUrl } from '../shared/endpoint.ts'

/**
 * The address that model ids are appended to: `baseUrl` itself where it ends with `/models` (or `/endpoints`, for tuned models), else with
 * `path` behind it, without the version of `path` where `baseUrl` ends with one. A query of `baseUrl` is kept.
 * Throws `ProviderError` `other` for a base that is no URL.
 *
 * Source: reference/phi-core-0.10.md §3 row 54.
 */
export function modelsUrl(baseUrl: string, path: string): string {
  const bare = baseUrl.replace(/\/*(\?.*)?$/, '')
  if (/\/(models|endpoints)$/.test(bare)) return joinUrl(baseUrl, '')
  return joinUrl(baseUrl, /\/v\d\w*$/.test(bare) ? path.replace(/^\/v\d\w*/, '') : path)
}
