import type { KeptRules } from '../assistant/kept-files.ts'
import { isEditing } from '../changes/proposed-change.ts'
import { type AskedAbout, allows, type Rule } from './rule.ts'

/** Calls that need an approval: all calls, all except file changes, or none. */
export const permissionModes = ['ask', 'edits', 'all'] as const
export type PermissionMode = (typeof permissionModes)[number]

/** Returns whether a word is a mode. */
export function isMode(word: string): word is PermissionMode {
  return permissionModes.some((mode) => mode === word)
}

/** A rule, and its lifetime. */
export interface HeldRule {
  rule: Rule
  scope: 'session' | 'folder'
}

/** Calls that the user has allowed by mode, for this session, or for this folder. */
export class Permissions {
  mode: PermissionMode
  readonly #kept: KeptRules | undefined
  #session: readonly Rule[] = []

  /** Without `kept`, rules last only for the session. */
  constructor(mode: PermissionMode, kept: KeptRules | undefined) {
    this.mode = mode
    this.#kept = kept
  }

  get canKeep(): boolean {
    return this.#kept !== undefined
  }

  /** Returns whether a call can run without asking the user. */
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

  /** Removes the rule at this index of `list()`. */
  remove(at: number): void {
    const rest = this.list().filter((_, index) => index !== at)
    this.#session = rest.flatMap(({ rule, scope }) => (scope === 'session' ? [rule] : []))
    if (this.#kept !== undefined) this.#kept.rules = rest.flatMap(({ rule, scope }) => (scope === 'folder' ? [rule] : []))
  }

  /** Switches to the next mode, as Shift-Tab does. */
  turn(): void {
    this.mode = permissionModes[(permissionModes.indexOf(this.mode) + 1) % permissionModes.length] ?? 'ask'
  }

  /** Removes the session's rules. */
  forget(): void {
    this.#session = []
  }
}
