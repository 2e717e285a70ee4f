/** What bytes say in UTF-8; `undefined` where they are none. With `withMark`, a byte order mark at their beginning is a part of the text. */
export function utf8In(bytes: Uint8Array, { withMark = false }: { withMark?: boolean } = {}): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: withMark }).decode(bytes)
  } catch {
    return undefined
  }
}
