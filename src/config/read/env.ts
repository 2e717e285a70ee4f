import { ConfigError } from '../../contract/errors.ts'
import { ownOf } from '../../contract/json.ts'
import { fieldOf, type Path } from '../config-error.ts'
import type { AgentConfig } from '../schema/sections.ts'

/** A name in braces. Without a name or a closing brace, the text is literal. */
const variable = /\$\{([^{}$\r\n]+)\}/g

/**
 * Substitutes `${VARIABLES}` in the strings of `config`. Values are never substituted again and never become keys.
 *
 * **Contract**: pure. Throws `ConfigError` `missingEnvVar` for a variable that `env` lacks. `agentFromConfig` calls this function. Do not
 * substitute twice. The result may contain secrets.
 *
 * Source: docs/reference/configuration.md
 */
export function substituteEnv<T extends AgentConfig>(config: T, env: Readonly<Record<string, string | undefined>>): T {
  return substituted(config, [], (name, path) => {
    const value = ownOf(env, name)
    if (value === undefined) throw missing(name, path)
    return value
  })
}

/** Returns all variable names in the strings within `value`. */
export function variablesIn(value: unknown): Set<string> {
  return new Set(variableUses(value).map(({ name }) => name))
}

/** Returns every variable in the strings of `value`, with its path. */
export function variableUses(value: unknown): { name: string; path: Path }[] {
  const uses: { name: string; path: Path }[] = []
  substituted(value, [], (name, path) => {
    uses.push({ name, path })
    return ''
  })
  return uses
}

/** Returns whether `text` is exactly one variable. Two adjacent variables do not count, because the file's author combined them. */
export function isVariable(text: string): boolean {
  return new RegExp(`^${variable.source}$`).test(text)
}

/** Returns whether a header value is one variable, optionally after a scheme such as `Bearer`. */
export function isKeyVariable(value: string): boolean {
  return isVariable(value.replace(/^(bearer|basic|token) /i, ''))
}

/** Returns whether `text` contains a variable. */
export function hasVariable(text: string): boolean {
  return text.search(variable) >= 0
}

function substituted<T>(value: T, path: Path, fill: (name: string, path: Path) => string): T {
  if (typeof value === 'string') return value.replace(variable, (_, name: string) => fill(name, path)) as T & string // A string stays a string.
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, entry]) => {
    const step = Array.isArray(value) ? Number(key) : key
    return [key, substituted(entry, [...path, step], fill)] as const
  })
  const copy: unknown = Array.isArray(value) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries)
  return copy as T // The copy has the same keys and types.
}

function missing(name: string, path: Path): ConfigError {
  const field = fieldOf(path)
  const advice = 'Set it before the program starts, or pass it in env. Put literal text into a file ("file:name.md").'
  return new ConfigError('missingEnvVar', `Missing environment variable \${${name}}, which ${field} uses. ${advice}`, {
    field,
    value: name,
    expected: 'the name of a variable that is set',
  })
}
