/** A count as a service reports it; what is no count (absent, negative, no number) is `otherwise`. */
export function tokenCount(value: unknown, otherwise = 0): number {
  return typeof value === 'number' && value >= 0 ? value : otherwise
}
