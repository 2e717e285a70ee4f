/** The value below which so many percent are. */
export function percent(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? 0
}

/** The median, and between which values nine of ten are: how far other work on the machine has moved them. */
export function spread(values: readonly number[]): string {
  return `${percent(values, 50).toFixed(2)} (${percent(values, 5).toFixed(2)} to ${percent(values, 95).toFixed(2)})`
}
