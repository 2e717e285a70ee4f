import { styleText } from 'node:util'
import { escapeControls } from '../../../../src/store.ts'

declare const isPainted: unique symbol

/**
 * Text that is safe to write to a terminal: foreign text is escaped, and colors are our own. Only a
 * `Painter` creates it, so that nothing else reaches the screen.
 */
export type Painted = string & { readonly [isPainted]: true }

export type Style = Parameters<typeof styleText>[0]

/** The color of the background. */
export interface Theme {
  isLight: boolean
}

/** Colors that are unreadable on a light background, and their replacements. */
const onLight: Readonly<Record<string, Exclude<Style, readonly unknown[]>>> = { yellow: 'magenta', cyan: 'blue' }

/** Escapes text, and colors it if the stream supports colors. */
export interface Painter {
  readonly hasColours: boolean
  /** `text`, escaped, in a style. */
  paint(style: Style, text: string): Painted
  /** `text`, escaped. */
  plain(text: string): Painted
}

/** A painter for `stream`, in colours for `theme`: `NO_COLOR`, `FORCE_COLOR` and pipes are honoured as `styleText` does. */
export function painterFor(stream: NodeJS.WritableStream, theme: Theme = { isLight: false }): Painter {
  const hasColours = styleText('red', 'x', { stream }) !== 'x'
  const plain = (text: string): Painted => escaped(text)
  const paint = (style: Style, text: string): Painted => {
    const shown = escaped(text)
    // Made of escaped text and our own codes.
    return hasColours && shown !== ''
      ? (styleText(theme.isLight ? readable(style) : style, shown, { validateStream: false }) as Painted)
      : shown
  }
  return { hasColours, paint, plain }
}

function readable(style: Style): Style {
  return Array.isArray(style) ? style.map((each) => onLight[each] ?? each) : (onLight[String(style)] ?? style)
}

/** The only place that makes text safe. Tabs get a fixed width, so that lines can be measured. */
function escaped(text: string): Painted {
  return escapeControls(text).replaceAll('\t', '    ') as Painted // contains no cursor movement now
}

/** Joins parts. */
export function joined(...parts: readonly Painted[]): Painted {
  return parts.join('') as Painted // of safe parts
}

/** The lines of a text. */
export function linesOf(text: Painted): Painted[] {
  return text.split('\n') as Painted[] // parts of it
}

/** Asks a terminal for its background color. An unsupported query has no response. */
export const askBackground = '\x1b]11;?\x1b\\'

/** The response: red, green and blue, with one to four hexadecimal digits each. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what terminals send
const answer = /\x1b\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})(?:\/[0-9a-f]{1,4})?(?:\x07|\x1b\\)/gi

/** The start of a response that continues in the next chunk. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what terminals send
export const answerBeginning = /\x1b\]1[1;rgba:0-9a-f/]{0,40}\x1b?$/i

/** Removes responses from a text; `tell` gets whether the background is light. */
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
