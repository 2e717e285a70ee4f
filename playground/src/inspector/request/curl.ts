import type { AnnotatedRequest } from '../../../../src/index.ts'

/** The request as a command for a shell. Keys are not in it: whoever runs it puts theirs in. */
export function curlOf({ http }: AnnotatedRequest): string {
  if (http === undefined) return '# The HTTP request was not captured. Set captureTurnRequests: { httpBody: true }.'
  if (!/^https?:/.test(http.url))
    return `# The model is scripted: there is no service to send this to. It would be the body:\n# ${quoted(http.body)}`
  const headers = Object.entries(http.headers).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`)
  return [`curl ${quoted(http.url)}`, ...headers, `  --data-raw ${quoted(http.body)}`].join(' \\\n')
}

/** For a POSIX shell: nothing within is expanded. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** What was sent, as JSON: the body itself where it was captured. */
export function bodyOf(request: AnnotatedRequest): string {
  const { http, ...rest } = request
  if (http === undefined) return JSON.stringify(rest, undefined, 2)
  try {
    return JSON.stringify(JSON.parse(http.body), undefined, 2)
  } catch {
    return http.body
  }
}
