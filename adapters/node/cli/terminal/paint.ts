import { styleText } from 'node:util'
import { escapeControls } from '../../../../src/store.ts'

declare const isPainted: unique symbol

/**
 * Text that is safe to write to a terminal: untrusted text is escaped, and only our own color codes remain. Only a `Painter` creates it, so
 * that no other text reaches the screen.
 */
export type Painted = string & { readonly [isPainted]: true }

export type Style = Parameters<typeof styleText>[0]

/** The color of the background. */
export interface Theme {
  isLight: boolean
}

/** Replacements for colors that are unreadable on a light background. */
const onLight: Readonly<Record<string, Exclude<Style, readonly unknown[]>>> = { yellow: 'magenta', cyan: 'blue' }

/** Escapes text, and colors it if the stream supports colors. */
export interface Painter {
  readonly hasColours: boolean
  /** Returns `text`, escaped and styled. */
  paint(style: Style, text: string): Painted
  /** `text`, escaped. */
  plain(text: string): Painted
}

/** Creates a painter for `stream` with colors for `theme`. Respects `NO_COLOR`, `FORCE_COLOR` and pipes, like `styleText`. */
export function painterFor(stream: NodeJS.WritableStream, theme: Theme = { isLight: false }): Painter {
  const hasColours = styleText('red', 'x', { stream }) !== 'x'
  const plain = (text: string): Painted => escaped(text)
  const paint = (style: Style, text: string): Painted => {
    const shown = escaped(text)
    // The result consists of escaped text and our own codes.
    return hasColours && shown !== ''
      ? (styleText(theme.isLight ? readable(style) : style, shown, { validateStream: false }) as Painted)
      : shown
  }
  return { hasColours, paint, plain }
}

function readable(style: Style): Style {
  return Array.isArray(style) ? style.map((each) => onLight[each] ?? each) : (onLight[String(style)] ?? style)
}

/** The only place that makes text safe. Expands tabs to a fixed width, so that lines can be measured. */
function escaped(text: string): Painted {
  return escapeControls(text).replaceAll('\t', '    ') as Painted // contains no cursor movement anymore
}

/** Joins parts. */
export function joined(...parts: readonly Painted[]): Painted {
  return parts.join('') as Painted // of safe parts
}

/** Returns the lines of a text. */
export function linesOf(text: Painted): Painted[] {
  return text.split('\n') as Painted[] // parts of it
}

/** Query for a terminal's background color. Terminals without support do not respond. */
export const askBackground = '\x1b]11;?\x1b\\'

/** Matches the response: red, green and blue, with one to four hexadecimal digits each. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what terminals send
const answer = /\x1b\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})(?:\/[0-9a-f]{1,4})?(?:\x07|\x1b\\)/gi

/** Start of a response that continues in the next chunk. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what terminals send
export const answerBeginning = /\x1b\](?:1[1;rgba:0-9a-f/]{0,40}\x1b?)?$/i

/** Removes responses from a text and passes to `tell` whether the background is light. */
export function withoutAnswers(text: string, tell: (isLight: boolean) => void): string {
  return text.replace(answer, (_, red: string, green: string, blue: string) => {
    const share = (digits: string): number => Number.parseInt(digits, 16) / (16 ** digits.length - 1)
    tell(0.299 * share(red) + 0.587 * share(green) + 0.114 * share(blue) > 0.5)
    return ''
  })
}

/** Values of `COLORFGBG` for a light background: white or light grey. */
export function isLightBy(colours: string | undefined): boolean {
  return /;(?:7|15)$/.test(colours ?? '')
}
