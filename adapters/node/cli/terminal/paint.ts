import { styleText } from 'node:util'
import { escapeControls } from '../../../../src/store.ts'

declare const isPainted: unique symbol

/**
 * Text as it may be written to a terminal: what models, tools, files and people wrote is escaped in it, and the colours are our own. Only a
 * `Painter` makes it, so that nothing reaches the screen that did not pass through it.
 */
export type Painted = string & { readonly [isPainted]: true }

export type Style = Parameters<typeof styleText>[0]

/** What is behind the text. */
export interface Theme {
  isLight: boolean
}

/** What cannot be read on a light background, and what stands for it there. */
const onLight: Readonly<Record<string, Exclude<Style, readonly unknown[]>>> = { yellow: 'magenta', cyan: 'blue' }

/** Escapes text, and colours it where the stream shows colours. */
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

/** The one place where text becomes safe. Tabs get a fixed width, so that lines can be measured. */
function escaped(text: string): Painted {
  return escapeControls(text).replaceAll('\t', '    ') as Painted // nothing in it moves a cursor now
}

/** Parts beside one another. */
export function joined(...parts: readonly Painted[]): Painted {
  return parts.join('') as Painted // of safe parts
}

/** The lines of a text. */
export function linesOf(text: Painted): Painted[] {
  return text.split('\n') as Painted[] // parts of it
}

/** Asks a terminal for the colour behind its text. One that does not know the question says nothing. */
export const askBackground = '\x1b]11;?\x1b\\'

/** What it answers: red, green and blue, with one to four hexadecimal digits each. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what terminals send
const answer = /\x1b\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})(?:\/[0-9a-f]{1,4})?(?:\x07|\x1b\\)/gi

/** The beginning of an answer, whose rest comes with the next chunk. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what terminals send
export const answerBeginning = /\x1b\]1[1;rgba:0-9a-f/]{0,40}\x1b?$/i

/** Text without the answers in it; `tell` learns from each whether the background is a light one. */
export function withoutAnswers(text: string, tell: (isLight: boolean) => void): string {
  return text.replace(answer, (_, red: string, green: string, blue: string) => {
    const share = (digits: string): number => Number.parseInt(digits, 16) / (16 ** digits.length - 1)
    tell(0.299 * share(red) + 0.587 * share(green) + 0.114 * share(blue) > 0.5)
    return ''
  })
}

/** What terminals that say it by `COLORFGBG` have behind their text: white or light grey. */
export function isLightBy(colours: string | undefined): boolean {
  return /;(?:7|15)$/.test(colours ?? '')
}
