/** Remedies by name; the UI knows how to offer them. */
export type Remedy =
  | 'retry'
  | 'compactAndRetry'
  | 'continue'
  | 'settings'
  | 'schema'
  | 'freeSpace'
  | 'reload'
  | 'takeOver'
  | 'stop'
  | 'open'

/** Remedies by error code, of the SDK or of its cause. */
const remedies: Readonly<Record<string, readonly Remedy[]>> = {
  // Also an unknown model, and a rejected setting.
  api: ['settings'],
  auth: ['settings'],
  unauthorized: ['settings'],
  // A key that is missing, or an address that is none.
  other: ['settings'],
  contextOverflow: ['compactAndRetry', 'settings'],
  rateLimited: ['retry'],
  overloaded: ['retry'],
  network: ['retry', 'settings'],
  connectionLost: ['retry'],
  quota: ['freeSpace'],
  conflict: ['takeOver'],
  newerSchema: ['reload'],
  blocked: ['reload'],
  busy: ['stop'],
  loadFailed: ['reload'],
}

/** Returns remedies for an error, or for the failure of a run. */
export function remediesFor(error: unknown): readonly Remedy[] {
  const { code, cause } = Object(error)
  const inner: unknown = Object(cause).code
  return remedies[String(inner)] ?? remedies[String(code)] ?? []
}
