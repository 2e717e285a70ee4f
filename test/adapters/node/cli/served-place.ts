/** What a link of `phi serve` says. */
export function placeOf(link: string) {
  const url = new URL(link)
  const fields = new URLSearchParams(url.hash.slice(1))
  return { origin: url.origin, token: fields.get('token') ?? '', session: fields.get('session') ?? '' }
}
