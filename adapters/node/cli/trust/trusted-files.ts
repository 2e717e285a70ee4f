import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Which agent files a person has trusted: its text and what it would run, by a hash, at its place. Anything else at that place is asked about again. */
export interface TrustedFiles {
  has(path: string, fingerprint: string): boolean
  add(path: string, fingerprint: string): void
}

/** Kept in `<home>/trusted.json`, for its owner alone. A list that cannot be read trusts nothing. */
export function trustedFiles(home: string): TrustedFiles {
  const file = join(home, 'trusted.json')
  return {
    has: (path, fingerprint) => read(file)[path] === fingerprint,
    add: (path, fingerprint) => {
      mkdirSync(home, { recursive: true, mode: 0o700 })
      const draft = `${file}.${process.pid}`
      writeFileSync(draft, `${JSON.stringify({ ...read(file), [path]: fingerprint }, undefined, 2)}\n`, { mode: 0o600 })
      renameSync(draft, file)
    },
  }
}

function read(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    // Without a prototype, so that no path is there by itself.
    return typeof value === 'object' && value !== null ? Object.assign(Object.create(null), value) : {}
  } catch {
    return {}
  }
}
