/** Texts for browser storage failures, by error code. */
const storage: Readonly<Record<string, string>> = {
  quota: "The browser's storage quota for this page is used up.",
  newerSchema: 'Another tab runs a newer version of this page. Reload this page.',
  blocked: 'A tab with an older version of this page blocks the storage. Close that tab and reload this page.',
}

/** Returns the text for a storage failure, including one that ended a run, or `undefined` for other errors. */
export function storageWords(error: unknown): string | undefined {
  const { code, cause } = Object(error)
  return storage[String(code)] ?? storage[String(Object(cause).code)]
}

/** SDK messages for programmers, reworded for users. */
const visitors: readonly (readonly [RegExp, string])[] = [
  // The page determines the cause itself, and shows it below.
  [/ Check the network and baseUrl.*$/, ''],
  [/^credentials failed: (.*?) The run stopped\.$/, '$1'],
  // For an agent on a server.
  [/^Cannot reach the session after (\d+) attempts\. Last error: (.*?)[.?]* Call load\(\) to retry\.$/, '$2. Tried $1 times.'],
  [/\. Is it running, and does it list the origin of this page in cors\??\.?/, '. Is it running, and does it let this page in (CORS)?'],
  // The page counts down the wait.
  [/ The provider asks to wait [\d.]+ s.*, but a run waits .*$/, ''],
  [/ ended without \w+/, ' broke off before its end'],
  [/\bbaseUrl\b/g, 'the address in the settings'],
]

/** Texts for provider and connection failures. */
export function wordsOfService(message: string): string {
  return visitors.reduce((text, [pattern, words]) => text.replace(pattern, words), message)
}

/** Topics for run failures, by code. */
const topics: Readonly<Record<string, string>> = {
  network: 'No answer',
  connectionLost: 'No answer',
  rateLimited: 'Too many requests',
  overloaded: 'Overloaded',
  api: 'Rejected by the provider',
  auth: 'No access',
  contextOverflow: 'Too long',
  schemaMismatch: 'Schema not met',
  unsupportedMedia: 'File not taken',
  unsupported: 'Setting not taken',
  journal: 'Not stored',
  hookFailed: 'A hook failed',
  loadFailed: 'Not loaded',
}

/** A short description. The code is in the error that users can copy. */
export function topicOf({ code, message }: { code: string; message: string }): string {
  if (code === 'network' && / ended without \w+/.test(message)) return 'Broken off'
  if (code === 'rateLimited' && /quota or credit/.test(message)) return 'Quota used up'
  return topics[code] ?? 'Failed'
}
