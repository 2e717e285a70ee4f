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
