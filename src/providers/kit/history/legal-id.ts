import { hashText } from './hash.ts'

/**
 * A mapping of tool call ids onto what a service accepts: only characters of the class `allowed` (`a-z0-9_-`), at most `maxLength` of them. Legal ids stay; others
 * are sanitised and get a hash of the original, so that different ids stay different.
 */
export function legalId(allowed: string, maxLength: number): (id: string) => string {
  const illegal = new RegExp(`[^${allowed}]`, 'g')
  return (id) => {
    const clean = id.replace(illegal, '_')
    if (clean === id && id !== '' && id.length <= maxLength) return id
    const hash = hashText(id)
    return `${clean.slice(0, maxLength - hash.length - 1)}_${hash}`
  }
}

/** Which ids a service takes: letters, digits, `_` and `-`; anything visible; or nine letters and digits. The number is the longest. */
export type CallIdRule = 'word64' | 'visible40' | 'visible64' | 'visible256' | 'nineChars'

/** The mapping of ids for each rule. */
export const legalIds: Readonly<Record<CallIdRule, (id: string) => string>> = {
  word64: legalId('a-zA-Z0-9_-', 64),
  visible40: legalId('\\x21-\\x7e', 40),
  visible64: legalId('\\x21-\\x7e', 64),
  visible256: legalId('!-~', 256),
  nineChars,
}

/** The mapping onto exactly nine letters and digits, which Mistral's models want: other ids are hashed to some. */
export function nineChars(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashText(id).padStart(9, '0').slice(-9)
}

const illegalInName = /[^a-zA-Z0-9_-]/g

/** A name as services take it, of letters, digits, `_` and `-`, at most 64: one that a model made up need not be legal. */
export function legalName(name: string): string {
  return name.replace(illegalInName, '_').slice(0, 64) || 'unknown'
}
