const illegal = /[^a-zA-Z0-9_-]/g

/** A name as services take it, of letters, digits, `_` and `-`, at most 64: one that a model made up need not be legal. */
export function legalName(name: string): string {
  return name.replace(illegal, '_').slice(0, 64) || 'unknown'
}
