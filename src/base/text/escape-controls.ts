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
