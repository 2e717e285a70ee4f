/** At most `limit` bytes from a body. Bodies that go on are cancelled. */
export async function readBytes(response: Response, limit: number): Promise<{ bytes: Uint8Array<ArrayBuffer>; isWhole: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  while (reader !== undefined && size <= limit) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    size += value.length
  }
  // The rest may never end, and a cancelled stream may never say so.
  if (size > limit) reader?.cancel().catch(() => undefined)
  const bytes = new Uint8Array(Math.min(size, limit))
  let at = 0
  for (const chunk of chunks) {
    const part = chunk.subarray(0, bytes.length - at)
    bytes.set(part, at)
    at += part.length
  }
  return { bytes, isWhole: size <= limit }
}
