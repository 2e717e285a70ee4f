import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Rule } from '../permissions/rule.ts'

/** Puts `text` in place of a file that phi keeps for its owner alone: whoever looks sees the old one or the new one. */
export function replaceKept(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, path)
}

/** The object in such a file, as JSON, without a prototype, so that no name is there by itself; an empty one where it cannot be read. */
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
 * What is always allowed in a folder, in `permissions.json` beside its sessions, for its owner alone: for phi's own tools, and for each agent file by
 * what it was when that was said. No file of the folder can add to it. A list that cannot be read allows nothing.
 */
export class KeptRules {
  readonly #file: string
  readonly #speaker: string

  /** `speaker` is whose tools these are: `phi`, or the fingerprint of an agent file. */
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
