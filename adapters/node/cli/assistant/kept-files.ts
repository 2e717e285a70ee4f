import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Rule } from '../permissions/rule.ts'

/** Atomically replaces a private file with `text`. */
export function replaceKept(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, path)
}

/** Reads a JSON object without a prototype, so no inherited name appears. Returns an empty object if the file is unreadable. */
function keptObject(path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof value === 'object' && value !== null ? Object.assign(Object.create(null), value) : {}
  } catch {
    return {}
  }
}

function replaceKeptObject(path: string, value: Record<string, unknown>): void {
  replaceKept(path, `${JSON.stringify(value, undefined, 2)}\n`)
}

/**
 * Stores a folder's approval rules in `permissions.json` next to its sessions, readable by the owner only. Rules belong to phi's own
 * tools or to a specific version of an agent file. Files in the folder cannot add rules. An unreadable list allows nothing.
 */
export class KeptRules {
  readonly #file: string
  readonly #speaker: string

  /** `speaker` is the owner of the tools: `phi`, or an agent file's fingerprint. */
  constructor(file: string, speaker: string) {
    this.#file = file
    this.#speaker = speaker
  }

  get rules(): readonly Rule[] {
    const rules: unknown = keptObject(this.#file)[this.#speaker]
    return Array.isArray(rules) ? rules.filter(isRule) : []
  }

  set rules(rules: readonly Rule[]) {
    const { [this.#speaker]: _before, ...others } = keptObject(this.#file)
    replaceKeptObject(this.#file, rules.length === 0 ? others : { ...others, [this.#speaker]: rules })
  }
}

function isRule(value: unknown): value is Rule {
  const { tool, ...patterns }: Record<string, unknown> = Object(value)
  return (
    typeof tool === 'string' && Object.entries(patterns).every(([name, text]) => /^(is|begins)$/.test(name) && typeof text === 'string')
  )
}

/** The agent files that the user trusts, by path and by a hash of their text and code. A changed file needs trust again. */
export interface TrustedFiles {
  has(path: string, fingerprint: string): boolean
  add(path: string, fingerprint: string): void
}

/** Opens `<home>/trusted.json`, readable by the owner only. An unreadable list trusts nothing. */
export function trustedFiles(home: string): TrustedFiles {
  const file = join(home, 'trusted.json')
  return {
    has: (path, fingerprint) => keptObject(file)[path] === fingerprint,
    add: (path, fingerprint) => replaceKeptObject(file, { ...keptObject(file), [path]: fingerprint }),
  }
}
