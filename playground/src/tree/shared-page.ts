import { textFromBase64 } from '../parts/base64.ts'

/** Marks the start of the base64 conversation in a shared page. */
export const sharedOpening = '<script type="application/x-phi-session">'

/** Returns the session in a shared page. Returns any other text unchanged. */
export function sessionIn(text: string): string {
  const at = /^\s*<!doctype html>/i.test(text) ? text.indexOf(sharedOpening) : -1
  if (at < 0) return text
  const from = at + sharedOpening.length
  return textFromBase64(text.slice(from, text.indexOf('<', from)).trim())
}
