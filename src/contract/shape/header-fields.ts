import { type ShapeOf, texts, withInside } from './shape.ts'

/** Whether `text` may stand as the name of a header. */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)
}

/** Whether `text` may stand as the value of a header: one line of characters that `fetch` takes. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}

/** Headers by their names. Without this look `fetch` refuses them, which reads as if the service could not be reached. */
export const headerFields: ShapeOf<Record<string, string>> = withInside(texts, (value, path) => {
  const bad = Object.entries(value as Record<string, string>).find(([name, text]) => !isHeaderName(name) || !isHeaderValue(text))
  // No value: it may be a secret.
  return bad && `${path}.${JSON.stringify(bad[0])} cannot be sent; it must be the name of a header with one line of Latin text.`
})
