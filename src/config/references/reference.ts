/** A text that stands for an entity of the file, or of the host. */
export interface Reference {
  /** `#id#`: an entity of the host. */
  isSystem: boolean
  /** `%name%`: the one that is there, if it is. */
  isShared: boolean
  /** Absent where the name alone must tell. */
  namespace?: string
  name: string
}

const braces = /^\{\{([^{}\r\n]*)\}\}$/
const part = '[^%#.{}\\r\\n]+'
const grammar = new RegExp(`^(?:#(?<system>[^#%]+)#|(?<open>%?)(?:(?<namespace>${part})\\.)?(?<name>${part})(?<close>%?))$`)

/**
 * `{{name}}`, `{{namespace.name}}`, the same between `%`, or `{{#id#}}`. Undefined for text that is no reference, an empty one among them; `malformed` for
 * what looks like one and follows no rule.
 */
export function parseReference(text: string): Reference | 'malformed' | undefined {
  const inner = braces.exec(text.trim())?.[1]?.trim()
  if (inner === undefined || inner === '') return undefined
  const { system, open, namespace, name = '', close } = grammar.exec(inner)?.groups ?? {}
  if (system !== undefined && system.trim() !== '') return { isSystem: true, isShared: true, name: system.trim() }
  if (name.trim() === '' || namespace?.trim() === '' || open !== close) return 'malformed'
  const reference = { isSystem: false, isShared: open === '%', name: name.trim() }
  return namespace === undefined ? reference : { ...reference, namespace: namespace.trim() }
}
