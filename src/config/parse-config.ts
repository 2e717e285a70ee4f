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
/** A language that agent files are written in. */
export type ConfigFormat = Infer<typeof configFormat>

/** What a text says, and what of it nobody reads. */
export interface ParsedConfig {
  /** In one form: names without aliases, nothing that is unknown or `null`. References and `${VARIABLES}` are as they were written. */
  config: AgentConfig
  /** Read them: what no program has read is logged when an agent is made. */
  readonly warnings: ConfigWarning[]
  /** Everything that the text says, as JSON. */
  document: JsonObject
  format: ConfigFormat
}

const readers: Record<ConfigFormat, (text: string) => ReadDocument | Promise<ReadDocument>> = {
  toml: readToml,
  json: readJson,
  yaml: readYaml,
}

/**
 * Reads an agent file.
 *
 * **Contract**
 * - Nothing is run, read or sent, and no variable is filled in: the result holds no secret that the text does not hold.
 * - Keys that nobody reads are `warnings` with the nearest known one; everything else that is wrong rejects with `ConfigError`: `parse` for a text that is
 *   no TOML, JSON or YAML 1.2 (or longer than 131,072 characters), `invalidField` for a value, with `field`, `value`, `expected`, `line` and `column`.
 * - Rejects with `LoadError` where the YAML parser cannot be had.
 *
 * Source: docs/reference/configuration.md
 */
export async function parseConfig(text: string, format: ConfigFormat): Promise<ParsedConfig> {
  checkOptions(text, aText, 'text')
  checkOptions(format, configFormat, 'format')
  return interpreted(await readers[format](checkedText(text)), format)
}

/** As `parseConfig`, in the first format that the text is: TOML, then JSON, then YAML. Source: docs/reference/configuration.md */
export async function parseConfigAuto(text: string): Promise<ParsedConfig> {
  checkOptions(text, aText, 'text')
  const checked = checkedText(text)
  const failures: ConfigError[] = []
  for (const format of configFormat.words) {
    const document = await attempt(() => readers[format](checked), failures)
    if (document !== undefined) return interpreted(document, format)
  }
  // It is most likely the one of which most could be read.
  const [nearest] = failures.toSorted((a, b) => (b.line ?? 0) - (a.line ?? 0) || (b.column ?? 0) - (a.column ?? 0))
  const { line = 1, column = 1 } = nearest ?? {}
  const told = failures.map(({ message }) => message).join(' ')
  throw parseError(`The configuration is neither TOML, nor JSON, nor YAML. ${told}`, { line, column })
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
