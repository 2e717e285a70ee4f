import { ConfigError } from '../../contract/errors.ts'
import { ownOf } from '../../contract/json.ts'
import { fieldOf, type Path } from '../config-error.ts'
import type { AgentConfig } from '../schema/sections.ts'

/** A name between braces. Without one, or without the closing brace, it is text like any other. */
const variable = /\$\{([^{}$\r\n]+)\}/g

/**
 * `config` with the values of `${VARIABLES}` in its texts. Values are data: nothing in them is substituted again, and none becomes a key.
 *
 * **Contract**: pure; throws `ConfigError` `missingEnvVar` for a variable that `env` does not have. `agentFromConfig` does this by itself; do not do it
 * twice. The result may hold secrets.
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

/** The names of all variables in the texts of `value`. */
export function variablesIn(value: unknown): Set<string> {
  return new Set(variableUses(value).map(({ name }) => name))
}

/** Every variable in the texts of `value`, and where it stands. */
export function variableUses(value: unknown): { name: string; path: Path }[] {
  const uses: { name: string; path: Path }[] = []
  substituted(value, [], (name, path) => {
    uses.push({ name, path })
    return ''
  })
  return uses
}

/** Whether `text` is one variable and nothing else. Two of them are not: whoever put them side by side chose what comes out. */
export function isVariable(text: string): boolean {
  return new RegExp(`^${variable.source}$`).test(text)
}

/** The same of the value of a header, which may say of which kind its key is. */
export function isKeyVariable(value: string): boolean {
  return isVariable(value.replace(/^(bearer|basic|token) /i, ''))
}

/** Whether there is a variable in `text`. */
export function hasVariable(text: string): boolean {
  return text.search(variable) >= 0
}

function substituted<T>(value: T, path: Path, fill: (name: string, path: Path) => string): T {
  if (typeof value === 'string') return value.replace(variable, (_, name: string) => fill(name, path)) as T & string // a text stays a text
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, entry]) => {
    const step = Array.isArray(value) ? Number(key) : key
    return [key, substituted(entry, [...path, step], fill)] as const
  })
  const copy: unknown = Array.isArray(value) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries)
  return copy as T // the same keys, each with a value of the same kind
}

function missing(name: string, path: Path): ConfigError {
  const field = fieldOf(path)
  const advice = 'Set it where the program starts, or give it in env. Text that is meant as it stands belongs in a file ("file:name.md").'
  return new ConfigError('missingEnvVar', `Missing environment variable: \${${name}}, which ${field} names. ${advice}`, {
    field,
    value: name,
    expected: 'the name of a variable that is set',
  })
}
