const escapes = /\\(u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g

/**
 * JSON text of `value` that every service accepts: lone surrogates, which are valid in JavaScript and in no request body,
 * become U+FFFD. `JSON.stringify` writes exactly those as `\ud…` escapes, so only texts that contain one pay for a scan.
 */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value)
  if (!json.includes('\\ud')) return json
  // Each escape is taken as a whole, so that an escaped backslash before "ud800" stays what it is.
  return json.replace(escapes, (whole, body: string) => (body.length === 5 ? '\\ufffd' : whole))
}
