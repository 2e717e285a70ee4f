import { kindOf } from './json-fault.ts'

/** Names of what must not be shown. Counts of tokens are none. */
const secretName: RegExp = /key|bearer|token(?!s)|secret|auth|password|credential|header/i

/** Whether `name` says that its value is a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name)
}

/** A text without what addresses in it say behind `?`, and without a name and a password before the host: keys stand in each. */
function withoutKeys(text: string): string {
  return text.replace(/:\/\/[^/@\s]*@/g, '://…@').replace(/(:\/\/[^\s?#]*)[?#]\S*/g, '$1?…')
}

/** `value` as a message shows it, cut, and without what its name says is a secret. */
export function shown(value: unknown, name: string): string {
  if (value instanceof Promise) return 'a promise (await it first)'
  if (typeof value === 'string') return isSecretName(name) ? 'a text' : JSON.stringify(withoutKeys(value.slice(0, 1000)).slice(0, 60))
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : kindOf(value)
}
