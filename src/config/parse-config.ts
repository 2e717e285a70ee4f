import { ConfigError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aText, type Infer, oneOf } from '../contract/shape/shape.ts'
import { type ConfigWarning, fieldOf, placed, rememberOrigin, stepsOf, takeUnread } from './config-error.ts'
import { checkedText, parseError, type ReadDocument } from './read/document.ts'
import { readJson } from './read/json.ts'
import { readToml } from './read/toml.ts'
import { readYaml } from './read/yaml.ts'
import { adviceOn, checkedConfig } from './schema/check.ts'
import type { AgentConfig } from './schema/sections.ts'

const configFormat = oneOf('toml', 'json', 'yaml')
/** Format of an agent file. */
export type ConfigFormat = Infer<typeof configFormat>

/** Result of parsing an agent file. */
export interface ParsedConfig {
  /** Normalized configuration: no aliases, unknown keys or `null`. References and `${VARIABLES}` are not substituted. */
  config: AgentConfig
  /** Warnings. If no code reads them, they are logged when an agent is created. */
  readonly warnings: ConfigWarning[]
  /** The whole document as JSON. */
  document: JsonObject
  format: ConfigFormat
}

const readers: Record<ConfigFormat, (text: string) => ReadDocument | Promise<ReadDocument>> = {
  toml: readToml,
  json: readJson,
  yaml: readYaml,
}

/**
 * Parses an agent file.
 *
 * **Contract**
 * - Runs, reads and sends nothing. Does not substitute variables, so the result contains only secrets that the text already contains.
 * - Unknown keys become `warnings` with the nearest known key.
 * - Rejects with `ConfigError` `parse` for text that is not valid TOML, JSON or YAML 1.2, or that is longer than 131,072 characters.
 * - Rejects with `ConfigError` `invalidField` for an invalid value, with `field`, `value`, `expected`, `line` and `column`.
 * - Rejects with `LoadError` if the YAML parser cannot be loaded.
 *
 * Source: docs/reference/configuration.md
 */
export async function parseConfig(text: string, format: ConfigFormat): Promise<ParsedConfig> {
  checkOptions(text, aText, 'text')
  checkOptions(format, configFormat, 'format')
  return interpreted(await readers[format](checkedText(text)), format)
}

/** Parses like `parseConfig` and detects the format: TOML, then JSON, then YAML. Source: docs/reference/configuration.md */
export async function parseConfigAuto(text: string): Promise<ParsedConfig> {
  checkOptions(text, aText, 'text')
  const checked = checkedText(text)
  const failures: ConfigError[] = []
  for (const format of configFormat.words) {
    const document = await attempt(() => readers[format](checked), failures)
    if (document !== undefined) return interpreted(document, format)
  }
  // Report the error of the parser that read the furthest.
  const [nearest] = failures.toSorted((a, b) => (b.line ?? 0) - (a.line ?? 0) || (b.column ?? 0) - (a.column ?? 0))
  const { line = 1, column = 1 } = nearest ?? {}
  const details = failures.map(({ message }) => message).join(' ')
  throw parseError(`The configuration is neither TOML, nor JSON, nor YAML. ${details}`, { line, column })
}

async function attempt(read: () => ReadDocument | Promise<ReadDocument>, failures: ConfigError[]): Promise<ReadDocument | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!ConfigError.isInstance(error) || error.code !== 'parse') throw error
    failures.push(error)
    return undefined
  }
}

function interpreted({ tree, placeOf }: ReadDocument, format: ConfigFormat): ParsedConfig {
  try {
    const { config, notes } = checkedConfig(tree)
    const warnings = [...notes, ...adviceOn(config)].map(({ code, message, path }) => ({
      code,
      field: fieldOf(path),
      message,
      ...placeOf(path),
    }))
    rememberOrigin(config, { placeOf, warnings })
    return {
      ...{ config, document: tree, format },
      get warnings() {
        takeUnread(config)
        return warnings
      },
    }
  } catch (error) {
    throw ConfigError.isInstance(error) ? placed(error, placeOf(stepsOf(error.field ?? ''))) : error
  }
}
