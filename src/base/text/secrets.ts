/** Names of headers whose value says who asks. */
const secretHeader = /auth|key|token|secret|cookie|credential|password|signature/i

/** Whether the value of a header is a secret, judged by the header's name. */
export function isSecretHeader(name: string): boolean {
  return secretHeader.test(name)
}

/** What of a header's value must not be shown: the whole, and the token behind a scheme. */
export function headerSecrets(value: string): string[] {
  return [value, value.replace(/^\s*\S+\s+(?=\S)/, '')]
}

/** Shorter ones would be found in anything. */
const minSecret = 4

/** `text` with `****` for every secret in it that has four characters or more, as it is and as JSON writes it. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const known = [...new Set(secrets.flatMap(spellings))].filter((secret) => secret.length >= minSecret)
  // One that contains another goes first, or part of it would be left.
  return known.toSorted((a, b) => b.length - a.length).reduce((shown, secret) => shown.replaceAll(secret, '****'), text)
}

/** A secret as it is, as headers carry it, and as JSON writes it. */
function spellings(secret: string): string[] {
  const bare = secret.trim()
  return [secret, bare, JSON.stringify(bare).slice(1, -1)]
}
