/** Decodes UTF-8. Returns `undefined` if it is invalid. `withMark` keeps a leading byte order mark. */
export function utf8In(bytes: Uint8Array, { withMark = false }: { withMark?: boolean } = {}): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: withMark }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Escapes `text` for any part of a URL (RFC 3986). A lone surrogate becomes U+FFFD. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Unescapes a part of a URL. Returns it unchanged if its percent escapes are invalid. */
export function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * Matches control characters except tab and line break, bidirectional controls and marks, line and paragraph separators, and invisible
 * tags. Excludes joiners, which emoji and several scripts need.
 */
const unsafe = /(?![\t\n])[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * Escapes text for a terminal or a UI: characters that move a cursor, set a title, hide or reorder text become
 * `\u{…}`. Keeps line breaks and tabs, and converts CRLF to LF.
 *
 * Use it for all text from models, tools and files. Works on stream chunks, because each character is escaped independently.
 */
export function escapeControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, visible)
}

/** Matches invisible or blank characters, including those used in words and emoji. */
const invisible = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * Escapes text for an approval prompt, where every character must be visible. Line breaks, tabs, joiners, fillers, variation selectors and
 * unusual spaces also become `\\u{…}`. Returns one line.
 */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, visible)
}

/** Matches control characters, line and paragraph separators, bidirectional and invisible formatting, and lone surrogates. */
const unsafeInName = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Escapes a file name for one line of text: characters that break lines, hide or reorder text become `\u{…}`. */
export function escapeName(name: string): string {
  return name.replace(unsafeInName, visible)
}

function visible(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}

// A constant, because a literal in a function would create a new object each time.
const half = /\p{Surrogate}/u

/** Returns whether `text` contains a lone surrogate, which displays ambiguously and is not valid Unicode. */
export function hasHalf(text: string): boolean {
  return half.test(text)
}

/** Returns whether a UTF-16 unit is a high surrogate. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Returns whether a UTF-16 unit is a low surrogate. */
export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** Returns the first `most` UTF-16 units of `text`. Never splits a surrogate pair. */
export function headOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, Math.max(0, most)).replace(/[\ud800-\udbff]$/, '')
}

/** Like {@link headOf}, for the last units. */
export function tailOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(text.length - Math.max(0, Math.trunc(most))).replace(/^[\udc00-\udfff]/, '')
}

/** Like {@link headOf}, but appends `…` if the text is truncated. */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${headOf(text, most)}…` : text
}

/**
 * Splits `text` into pieces of at most `maxBytes` UTF-8 bytes (at least 6), without splitting surrogate pairs, which UTF-8 cannot encode
 * separately. An empty text becomes one empty piece.
 */
export function splitText(text: string, maxBytes: number): string[] {
  // No UTF-16 unit needs more than three bytes.
  const most = Math.floor(maxBytes / 3)
  const pieces: string[] = []
  for (let start = 0; start < text.length; start = start + (pieces.at(-1)?.length ?? 0)) {
    const end = start + most
    const isInside = end < text.length && isHighSurrogate(text.charCodeAt(end - 1))
    pieces.push(text.slice(start, isInside ? end - 1 : end))
  }
  return pieces.length === 0 ? [''] : pieces
}
