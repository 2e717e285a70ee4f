/** Controls, line and paragraph separators, bidirectional and invisible formatting, lone surrogates. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/**
 * A file name as it may stand in one line of text: characters that break lines, hide or reorder text become `\u{…}`.
 */
export function escapeName(name: string): string {
  return name.replace(unsafe, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}
