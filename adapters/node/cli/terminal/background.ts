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
