import { join } from 'node:path'
import { keptObject, replaceKeptObject } from '../assistant/kept-file.ts'

/** Which agent files a person has trusted: its text and what it would run, by a hash, at its place. Anything else at that place is asked about again. */
export interface TrustedFiles {
  has(path: string, fingerprint: string): boolean
  add(path: string, fingerprint: string): void
}

/** Kept in `<home>/trusted.json`, for its owner alone. A list that cannot be read trusts nothing. */
export function trustedFiles(home: string): TrustedFiles {
  const file = join(home, 'trusted.json')
  return {
    has: (path, fingerprint) => keptObject(file)[path] === fingerprint,
    add: (path, fingerprint) => replaceKeptObject(file, { ...keptObject(file), [path]: fingerprint }),
  }
}
