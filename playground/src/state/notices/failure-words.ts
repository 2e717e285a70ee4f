/** What the storage of the browser refuses, by the code of its error: in the words of the page, not in those of a program. */
const storage: Readonly<Record<string, string>> = {
  quota: 'The browser has no more room for this page.',
  newerSchema: 'Another tab runs a newer version of this page. Reload this one.',
  blocked: 'A tab with an older version of this page holds what is stored. Close it, and reload this one.',
}

/** What the storage of the browser says, also where it ended a run; `undefined` where it was something else. */
export function storageWords(error: unknown): string | undefined {
  const { code, cause } = Object(error)
  return storage[String(code)] ?? storage[String(Object(cause).code)]
}

/** What the SDK says to who writes a program, as a visitor would say it. */
const visitors: readonly (readonly [RegExp, string])[] = [
  // The page finds out by itself why nothing came back, and says it below.
  [/ Check the network and baseUrl.*$/, ''],
  [/^credentials failed: (.*?) The run stopped\.$/, '$1'],
  // Of an agent on a server.
  [
    /^The session could not be reached, (\d+) times in a row; the last time: (.*?)[.?]* Call load\(\) to try again\.$/,
    '$2. It was tried $1 times.',
  ],
  [/\. Is it running, and does it list the origin of this page in cors\??\.?/, '. Is it running, and does it let this page in (CORS)?'],
  // The page counts the time down.
  [/ It asks to wait [\d.]+ s[^;]*; runs wait .*$/, ''],
  [/ ended without \w+/, ' broke off before its end'],
  [/\bbaseUrl\b/g, 'the address in the settings'],
]

/** What a service, or the way to it, refuses. */
export function wordsOfService(message: string): string {
  return visitors.reduce((text, [pattern, words]) => text.replace(pattern, words), message)
}

/** What a failure of a run is about, by its code. */
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
