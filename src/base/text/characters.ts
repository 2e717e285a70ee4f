/** What bytes say in UTF-8; `undefined` where they are none. With `withMark`, a byte order mark at their beginning is a part of the text. */
export function utf8In(bytes: Uint8Array, { withMark = false }: { withMark?: boolean } = {}): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: withMark }).decode(bytes)
  } catch {
    return undefined
  }
}

/** `text` as RFC 3986 writes it in any part of a URL. Half of a surrogate pair, which has no UTF-8, is U+FFFD. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** The text that a part of a URL stands for; as it is where its percent signs stand for none. */
export function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * Control characters but tab and line break, characters that reorder text (bidirectional controls and marks), line and paragraph separators,
 * and invisible tags. Joiners stay: emoji and several scripts need them.
 */
const unsafe = /(?![\t\n])[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * Text as it may be shown to a person, in a terminal or on a card: what moves a cursor, sets a title, hides or reorders text becomes visible
 * as `\u{…}`. Line breaks and tabs stay, and CRLF becomes LF.
 *
 * Use it for everything that a model, a tool or a file wrote. It works on pieces of a stream as well: no escape needs its neighbours.
 */
export function escapeControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, visible)
}

/** What shows nothing, or nothing but room: also in words and in emoji. */
const invisible = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * Text of which a person must see every character, because they agree to it: line breaks, tabs, joiners, fillers, variation selectors and odd spaces
 * become visible as `\\u{…}` as well. What it gives is one line.
 */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, visible)
}

/** Controls, line and paragraph separators, bidirectional and invisible formatting, lone surrogates. */
const unsafeInName = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A file name as it may stand in one line of text: characters that break lines, hide or reorder text become `\u{…}`. */
export function escapeName(name: string): string {
  return name.replace(unsafeInName, visible)
}

function visible(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}

// One for all texts: a literal in a function is a new object each time.
const half = /\p{Surrogate}/u

/** Whether half of a character stands in `text`: what shows as one sign whichever half it is, and is no text for others. */
export function hasHalf(text: string): boolean {
  return half.test(text)
}

/** Whether a UTF-16 unit is the first half of a character. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Whether a UTF-16 unit is the second half of a character. */
export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** The first UTF-16 units of `text`, `most` of them: half a character at the cut is left out. */
export function headOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, Math.max(0, most)).replace(/[\ud800-\udbff]$/, '')
}

/** As {@link headOf}, the last ones. */
export function tailOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(text.length - Math.max(0, Math.trunc(most))).replace(/^[\udc00-\udfff]/, '')
}

/** {@link headOf}, with `…` behind it where something was left out. */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${headOf(text, most)}…` : text
}
