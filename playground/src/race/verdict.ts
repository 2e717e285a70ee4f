/** What a judge said, with the name of the answer that it calls by its number. */
export function verdictText(verdict: string, names: readonly (string | undefined)[]): string {
  return verdict.replace(/^(\d+)(?=[:.)\s])/, (number) => names[Number(number) - 1] ?? number)
}
