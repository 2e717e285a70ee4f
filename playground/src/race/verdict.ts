/** Returns the judge's text, with names instead of numbers of responses. */
export function verdictText(verdict: string, names: readonly (string | undefined)[]): string {
  return verdict.replace(/^(\d+)(?=[:.)\s])/, (number) => names[Number(number) - 1] ?? number)
}
