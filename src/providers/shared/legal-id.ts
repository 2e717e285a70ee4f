import { hashText } from './hash.ts'

/**
 * A mapping of tool call ids onto what a service accepts: only characters of the class `allowed` (`a-z0-9_-`), at most `maxLength` of them. Legal ids stay; others
 * are sanitised and get a hash of the original, so that different ids stay different. Source: reference/providers.md §0 "Replaying" 4.
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

/** The mapping onto exactly nine letters and digits, which Mistral's models want: other ids are hashed to some. */
export function nineChars(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashText(id).padStart(9, '0').slice(-9)
}
