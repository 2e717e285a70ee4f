import { keptObject, replaceKeptObject } from '../assistant/kept-file.ts'
import type { Rule } from './rule.ts'

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
