import type { AnnotatedRequest } from '../../../../src/context.ts'

/** Returns the request as a shell command, without keys. */
export function curlOf(request: AnnotatedRequest): string {
  const { http, api } = request
  if (api === 'scripted') return '# The model is scripted: there is no service to send this to. Copy it as JSON.'
  if (http === undefined) return '# The HTTP request was not captured. Set captureTurnRequests: { httpBody: true }.'
  const headers = Object.entries(http.headers).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`)
  return [`curl ${quoted(http.url)}`, ...headers, `  --data-raw ${quoted(http.body)}`].join(' \\\n')
}

/** Quotes a text for a POSIX shell, which expands nothing in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns the request as JSON. This is the actual body if it was captured. */
export function bodyOf(request: AnnotatedRequest): string {
  const { http, ...rest } = request
  if (http === undefined) return JSON.stringify(rest, undefined, 2)
  try {
    return JSON.stringify(JSON.parse(http.body), undefined, 2)
  } catch {
    return http.body
  }
}
