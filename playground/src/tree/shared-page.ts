import { textFromBase64 } from '../parts/base64.ts'

/** Position of the base64 conversation in a shared page. */
export const sharedOpening = '<script type="application/x-phi-session">'

/** The session in a page that was shared; any other text as it is. */
export function sessionIn(text: string): string {
  const at = /^\s*<!doctype html>/i.test(text) ? text.indexOf(sharedOpening) : -1
  if (at < 0) return text
  const from = at + sharedOpening.length
  return textFromBase64(text.slice(from, text.indexOf('<', from)).trim())
}
