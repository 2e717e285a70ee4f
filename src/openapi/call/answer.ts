/** What came of a body. */
export interface ReadBody {
  text: string
  isTruncated: boolean
}

/** What a text is not. */
const binary =
  /^\s*(image\/(?!svg)|audio\/|video\/|font\/|application\/(octet-stream|pdf|zip|gzip|x-tar|x-gzip|vnd\.openxmlformats|wasm|protobuf|x-protobuf))/i

/**
 * Reads a body as text, up to `limit` bytes of UTF-8, and not much more of it: the rest is left on the line. `clean` may change the text before it is
 * cut, in parts of at most `longest` characters, of which none is shown in half. What is no text is described.
 */
export async function readBody(response: Response, limit: number, longest: number, clean: (text: string) => string): Promise<ReadBody> {
  const type = response.headers.get('content-type') ?? ''
  const { bytes, isWhole } = await readBytes(response, limit + longest * 3 + 4)
  if (binary.test(type) && bytes.length > 0) {
    return {
      text: `(${isWhole ? bytes.length : `more than ${limit}`} bytes of ${type.split(';', 1)[0]?.trim()}, not shown)`,
      isTruncated: !isWhole,
    }
  }
  // Without the end of the stream half a character at the end is dropped, not replaced.
  const text = clean(decoderFor(type).decode(bytes, { stream: !isWhole }))
  // Half of a part may stand where reading stopped, and within the limit where others became shorter.
  const shown = firstBytes(isWhole ? text : text.slice(0, Math.max(0, text.length - longest)), limit)
  return { text: shown, isTruncated: !isWhole || shown.length < text.length }
}

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

function decoderFor(type: string): TextDecoder {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}

/** The beginning of `text` that takes at most `limit` bytes of UTF-8, cut between characters. */
function firstBytes(text: string, limit: number): string {
  // No character takes more than three bytes for each of its units.
  if (text.length * 3 <= limit) return text
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limit))
  return text.slice(0, read)
}
