/** Remedies by name. The UI knows how to offer them. */
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

/** Remedies by the code of an SDK error or of its cause. */
const remedies: Readonly<Record<string, readonly Remedy[]>> = {
  // Also used for an unknown model and a rejected setting.
  api: ['settings'],
  auth: ['settings'],
  unauthorized: ['settings'],
  // A missing key or an invalid URL.
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

/** Returns remedies for an error or a failed run. */
export function remediesFor(error: unknown): readonly Remedy[] {
  const { code, cause } = Object(error)
  const inner: unknown = Object(cause).code
  return remedies[String(inner)] ?? remedies[String(code)] ?? []
}
