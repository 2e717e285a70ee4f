/** Tokens of context of a model, unless the configuration says otherwise. Gemma, the open family, takes less. */
export function contextWindowOf(id: string): number {
  return id.includes('gemma') ? 131_072 : 1_000_000
}
