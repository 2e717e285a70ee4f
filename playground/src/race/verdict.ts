/** Returns the judge's text with the names of responses instead of their numbers. */
export function verdictText(verdict: string, names: readonly (string | undefined)[]): string {
  return verdict.replace(/^(\d+)(?=[:.)\s])/, (number) => names[Number(number) - 1] ?? number)
}
