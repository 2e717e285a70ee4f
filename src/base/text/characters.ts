/** Decodes UTF-8; `undefined` if invalid. With `withMark`, a leading byte order mark is part of the text. */
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

/** Unescapes a part of a URL; unchanged if its percent signs are invalid. */
export function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * Control characters except tab and line break, bidirectional controls and marks, line and paragraph separators, and invisible tags.
 * Excludes joiners, which emoji and several scripts need.
 */
const unsafe = /(?![\t\n])[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * Escapes text for a terminal or a UI: characters that move a cursor, set a title, hide or reorder text become
 * `\u{…}`. Line breaks and tabs stay, and CRLF becomes LF.
 *
 * Use it for everything that a model, a tool or a file wrote. It works on stream chunks, because no escape depends on its neighbours.
 */
export function escapeControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, visible)
}

/** Invisible or blank characters, also those used in words and emoji. */
const invisible = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * Escapes text whose every character a user must see before an approval: line breaks, tabs, joiners, fillers, variation selectors and
 * unusual spaces also become `\\u{…}`. Returns one line.
 */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, visible)
}

/** Controls, line and paragraph separators, bidirectional and invisible formatting, lone surrogates. */
const unsafeInName = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Escapes a file name for one line of text: characters that break lines, hide or reorder text become `\u{…}`. */
export function escapeName(name: string): string {
  return name.replace(unsafeInName, visible)
}

function visible(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}

// Shared: a literal in a function creates a new object each time.
const half = /\p{Surrogate}/u

/** Returns whether `text` contains a lone surrogate, which displays ambiguously and is invalid text elsewhere. */
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

/** Returns the first `most` UTF-16 units of `text`, without a surrogate that the cut would split. */
export function headOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, Math.max(0, most)).replace(/[\ud800-\udbff]$/, '')
}

/** Does the same as {@link headOf} for the last units. */
export function tailOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(text.length - Math.max(0, Math.trunc(most))).replace(/^[\udc00-\udfff]/, '')
}

/** Applies {@link headOf}, and appends `…` if something was cut. */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${headOf(text, most)}…` : text
}
