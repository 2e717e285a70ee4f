/** Encodes a text's UTF-8 bytes as base64. */
export function base64From(text: string): string {
  let binary = ''
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Returns the text that `base64From` encoded. Throws for invalid base64. */
export function textFromBase64(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)))
}
