import type { KeptRules } from '../assistant/kept-files.ts'
import { isEditing } from '../changes/proposed-change.ts'
import { type AskedAbout, allows, type Rule } from './rule.ts'

/** Who is asked before a call runs that has to be asked for: about each, about each that is no change of a file, about none. */
export const permissionModes = ['ask', 'edits', 'all'] as const
export type PermissionMode = (typeof permissionModes)[number]

/** Whether a word names a mode. */
export function isMode(word: string): word is PermissionMode {
  return permissionModes.some((mode) => mode === word)
}

/** A rule, and how long it holds. */
export interface HeldRule {
  rule: Rule
  scope: 'session' | 'folder'
}

/** What a person has allowed: by mode, for this session, for this folder. */
export class Permissions {
  mode: PermissionMode
  readonly #kept: KeptRules | undefined
  #session: readonly Rule[] = []

  /** Without `kept`, nothing can be allowed beyond the session. */
  constructor(mode: PermissionMode, kept: KeptRules | undefined) {
    this.mode = mode
    this.#kept = kept
  }

  get canKeep(): boolean {
    return this.#kept !== undefined
  }

  /** Whether nobody has to be asked about a call that asks. */
  allows(call: AskedAbout): boolean {
    if (this.mode === 'all' || (this.mode === 'edits' && isEditing(call.toolName))) return true
    return this.list().some(({ rule }) => allows(rule, call))
  }

  add(rule: Rule, scope: HeldRule['scope']): void {
    if (scope === 'session') this.#session = [...this.#session, rule]
    else if (this.#kept !== undefined) this.#kept.rules = [...this.#kept.rules, rule]
  }

  list(): HeldRule[] {
    const folder = this.#kept?.rules ?? []
    return [
      ...this.#session.map((rule): HeldRule => ({ rule, scope: 'session' })),
      ...folder.map((rule): HeldRule => ({ rule, scope: 'folder' })),
    ]
  }

  /** Takes back what stands at this place of `list()`. */
  remove(at: number): void {
    const rest = this.list().filter((_, index) => index !== at)
    this.#session = rest.flatMap(({ rule, scope }) => (scope === 'session' ? [rule] : []))
    if (this.#kept !== undefined) this.#kept.rules = rest.flatMap(({ rule, scope }) => (scope === 'folder' ? [rule] : []))
  }

  /** The next mode, as Shift-Tab goes through them. */
  turn(): void {
    this.mode = permissionModes[(permissionModes.indexOf(this.mode) + 1) % permissionModes.length] ?? 'ask'
  }

  /** What was allowed for the session that ends. */
  forget(): void {
    this.#session = []
  }
}
