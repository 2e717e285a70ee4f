/**
 * The body of a request as text; `undefined` where it has more than `maxBytes`, and then no more of it is read. Its bytes are counted: what
 * `content-length` says is the client's word.
 */
export async function bodyText(request: Request, maxBytes: number): Promise<string | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return undefined
  const reader = request.body?.getReader()
  const utf8 = new TextDecoder()
  let text = ''
  let bytes = 0
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.length
    if (bytes > maxBytes) {
      reader.cancel().catch(() => undefined)
      return undefined
    }
    text += utf8.decode(value, { stream: true })
  }
  return text + utf8.decode()
}
