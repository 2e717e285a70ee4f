import type { ConfigHost, ParsedConfig } from '../../../src/config/index.ts'
import type { NodeToolsOptions } from '../node-tools.ts'

/** How a file is read, and what of its host is not taken from Node. */
export interface LoadConfigOptions extends Omit<ConfigHost, 'workspace' | 'readFile'> {
  /** What paths of the file are relative to. Default: the directory of this process. */
  root?: string
  /** How the built-in tools run. */
  nodeTools?: Omit<NodeToolsOptions, 'root'>
}

/** An agent file that was read, and what this machine gives it. */
export interface LoadedConfig extends ParsedConfig {
  /** Absolute. */
  path: string
  /** SHA-256 of the file, hexadecimal: what trust in a file is remembered by, together with its path. */
  sha256: string
  /** For `agentFromConfig(loaded.config, loaded.host)`. */
  host: ConfigHost
}

/** Reads an agent file, its format by its extension, and gives a host that fills its needs from Node. Rejects with `ConfigError`. */
export async function loadConfigFile(path: string, options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  throw new Error(`todo ${path} ${String(options)}`)
}
