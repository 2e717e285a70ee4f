/** Where an answer leads. `isFollowed` where that is within the same origin, and it was not led on too often before. */
export interface Redirect {
  /** Undefined where the platform does not say, as browsers, or where it is no address. */
  to: URL | undefined
  /** As the service wrote it. */
  location: string
  isFollowed: boolean
}

const maxRedirects = 5

/**
 * The one rule for redirects: they are followed by hand, within the same origin. Elsewhere, credentials would go along, and a document from the open net
 * could come out of a private one. Undefined for an answer that is no redirect.
 */
export function redirectOf(response: Response, from: URL, hops: number): Redirect | undefined {
  if (response.type === 'opaqueredirect') return { to: undefined, location: '', isFollowed: false }
  const location = response.headers.get('location')
  if (location === null || ![301, 302, 303, 307, 308].includes(response.status)) return undefined
  const to = URL.parse(location, from) ?? undefined
  const isHere = to?.origin === from.origin && to.username === '' && to.password === ''
  return { to, location, isFollowed: isHere && hops < maxRedirects }
}
