/** `bytes` as base64, without a `data:` prefix. */
export function toBase64(bytes: Uint8Array): string {
  // In pieces: one call with millions of arguments overflows the stack. Divisible by 3, so that pieces join without padding.
  const pieceBytes = 0x6000
  let text = ''
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + pieceBytes)))
  }
  return text
}
