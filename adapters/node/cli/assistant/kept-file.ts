import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Puts `text` in place of a file that phi keeps for its owner alone: whoever looks sees the old one or the new one. */
export function replaceKept(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, path)
}

/** The object in such a file, as JSON, without a prototype, so that no name is there by itself; an empty one where it cannot be read. */
export function keptObject(path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof value === 'object' && value !== null ? Object.assign(Object.create(null), value) : {}
  } catch {
    return {}
  }
}

export function replaceKeptObject(path: string, value: Record<string, unknown>): void {
  replaceKept(path, `${JSON.stringify(value, undefined, 2)}\n`)
}
