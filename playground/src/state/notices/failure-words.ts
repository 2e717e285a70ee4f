/** Texts for failures of the browser's storage, by error code. */
const storage: Readonly<Record<string, string>> = {
  quota: 'The browser has no more room for this page.',
  newerSchema: 'Another tab runs a newer version of this page. Reload this one.',
  blocked: 'A tab with an older version of this page holds what is stored. Close it, and reload this one.',
}

/** Returns the text for a storage failure, also of a run; `undefined` for other errors. */
export function storageWords(error: unknown): string | undefined {
  const { code, cause } = Object(error)
  return storage[String(code)] ?? storage[String(Object(cause).code)]
}

/** Texts of the SDK for programmers, reworded for users. */
const visitors: readonly (readonly [RegExp, string])[] = [
  // The page itself finds out the cause, and shows it below.
  [/ Check the network and baseUrl.*$/, ''],
  [/^credentials failed: (.*?) The run stopped\.$/, '$1'],
  // Of an agent on a server.
  [
    /^The session could not be reached, (\d+) times in a row; the last time: (.*?)[.?]* Call load\(\) to try again\.$/,
    '$2. It was tried $1 times.',
  ],
  [/\. Is it running, and does it list the origin of this page in cors\??\.?/, '. Is it running, and does it let this page in (CORS)?'],
  // The page counts the wait down.
  [/ It asks to wait [\d.]+ s[^;]*; runs wait .*$/, ''],
  [/ ended without \w+/, ' broke off before its end'],
  [/\bbaseUrl\b/g, 'the address in the settings'],
]

/** Texts for failures of a provider or its connection. */
export function wordsOfService(message: string): string {
  return visitors.reduce((text, [pattern, words]) => text.replace(pattern, words), message)
}

/** Topics of run failures, by code. */
const topics: Readonly<Record<string, string>> = {
  network: 'No answer',
  connectionLost: 'No answer',
  rateLimited: 'Too many requests',
  overloaded: 'Overloaded',
  api: 'Refused by the service',
  auth: 'No access',
  contextOverflow: 'Too long',
  schemaMismatch: 'Schema not met',
  unsupportedMedia: 'File not taken',
  unsupported: 'Setting not taken',
  journal: 'Not stored',
  hookFailed: 'A hook failed',
  loadFailed: 'Not loaded',
}

/** In a few words; the code itself is in the error that can be copied. */
export function topicOf({ code, message }: { code: string; message: string }): string {
  if (code === 'network' && / ended without \w+/.test(message)) return 'Broken off'
  if (code === 'rateLimited' && /quota or credit/.test(message)) return 'Quota used up'
  return topics[code] ?? 'Failed'
}
