import type { ConfigFormat, ParsedConfig } from './config-types.ts'

/** Reads an agent file. Nothing is run, read or sent. Rejects with `ConfigError` (`parse`, `invalidField`, …) that says where. */
export async function parseConfig(text: string, format: ConfigFormat): Promise<ParsedConfig> {
  throw new Error(`todo ${text} ${format}`)
}

/** As `parseConfig`, in the first format that fits: TOML, then JSON, then YAML. */
export async function parseConfigAuto(text: string): Promise<ParsedConfig> {
  throw new Error(`todo ${text}`)
}
