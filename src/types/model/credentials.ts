/**
 * Where a key comes from. Source: docs/providers/anthropic.md
 *
 * **Contract**
 * - `current()` is called once per model call and returns the key to use; it may fetch or refresh.
 * - `invalidate()` is called when the service rejected that key; the call is then repeated exactly once.
 * - Neither may put the key into an error message.
 */
export interface CredentialProvider {
  current(signal: AbortSignal): string | Promise<string>
  invalidate(): void | Promise<void>
}

/** A key, where to get one at each call, or a credential provider that also learns of a rejected one. */
export type ApiKey = string | ((signal: AbortSignal) => string | Promise<string>) | CredentialProvider

/** A key that never changes: a rejected one stays rejected, so there is no second try. */
export interface StaticCredential extends CredentialProvider {
  readonly isStatic: true
}

/** A credential provider for a fixed key. The key stays inside the closure: it is on no object that can be logged. */
export function staticCredential(key: string): StaticCredential {
  return { isStatic: true, current: () => key, invalidate: () => undefined }
}
