/** Replaces the response numbers in the judge's text with the names of the responses. */
export function verdictText(verdict: string, names: readonly (string | undefined)[]): string {
  return verdict.replace(/^(\d+)(?=[:.)\s])/, (number) => names[Number(number) - 1] ?? number)
}
