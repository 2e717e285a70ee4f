import { extname, resolve } from 'node:path'
import { type ConfigFormat, type ConfigHost, type ParsedConfig, parseConfig } from '../../../src/config.ts'
import { ownOf } from '../../../src/contract/json.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aText } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { absolute } from './commands.ts'
import { hostOfNode, type NodeHostOptions, nodeHostOptions, textOfFile } from './node-host.ts'
import { assertScripts, takeSnapshot } from './snapshot.ts'

/** Options for `loadConfigFile`, and the parts of its host that do not come from Node. Source: docs/reference/configuration.md */
export interface LoadConfigOptions extends NodeHostOptions {}

/** A parsed agent file, with a host for this machine. */
export interface LoadedConfig extends ParsedConfig {
  /** The absolute path. */
  path: string
  /**
   * Returns the key under which trust in the file can be stored, together with its path. It is a hexadecimal SHA-256 of its text. If the
   * file needs trust, the hash includes its working directory and the code that it would run. `undefined` if that code is unknown.
   */
  fingerprint(): Promise<string | undefined>
  /** Reasons why trust cannot be stored: one line per script, server or plugin that loads unknown code. */
  notRemembered: readonly string[]
  /** Throws `ConfigError` for a `[callbacks]` script or a plugin that cannot run. Call it before you prompt a user for trust. */
  checkScripts(): void
  /** The host for `agentFromConfig(loaded.config, loaded.host)`. */
  host: ConfigHost
}

const formats: Readonly<Record<string, ConfigFormat>> = { '.toml': 'toml', '.json': 'json', '.yaml': 'yaml', '.yml': 'yaml' }

/**
 * Reads an agent file in the format that its extension selects, and returns it with a host for this machine. The host provides environment
 * variables, the six built-in tools, MCP servers over stdio and HTTP, script hooks and plugin modules.
 *
 * **Contract**
 * - Reads the file and the code of its scripts, servers and plugins. Code that changes later is not run: `agentFromConfig` rejects with
 *   `ConfigError` `untrusted`, and a server is not restarted. The host acts in `agentFromConfig`; some of its actions need `trust`.
 * - Paths in the file are relative to `root` (default: this process's working directory). Plugin paths are relative to the file's folder. A
 *   link out of these folders is rejected.
 * - Rejects with `ConfigError`: `io` if the file cannot be read, `invalidOption` for another extension, and the errors of `parseConfig`.
 *   Extensions are `.toml`, `.json`, `.yaml` and `.yml`. A file that stores conversations needs `sessions`.
 *
 * Source: docs/reference/configuration.md
 *
 * @example
 * ```ts
 * const { config, host } = await loadConfigFile('agent.toml', { trust: (request) => ask(request) })
 * const agent = await agentFromConfig(config, host)
 * ```
 */
export async function loadConfigFile(path: string, options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  checkOptions(path, aText, 'path')
  checkOptions(options, nodeHostOptions)
  const extension = extname(path).toLowerCase()
  const format = ownOf(formats, extension)
  if (format === undefined) {
    const known = Object.keys(formats).join(', ')
    throw new ConfigError(
      'invalidOption',
      `${path} does not have an agent file extension (${known}). Rename it, or read it and call parseConfig.`,
    )
  }
  const text = await textOfFile(path)
  const parsed = await parseConfig(text, format)
  const root = resolve(options.root ?? '.')
  const { config, document } = parsed
  const directoryOf = (named: string): string => absolute(root, named)
  const file = { path: resolve(path), text, config, root, env: options.env ?? process.env, directoryOf }
  const snapshot = await takeSnapshot(file)
  const { notRemembered, fingerprint } = snapshot
  const checkScripts = (): void => assertScripts(file)
  const host = hostOfNode(options, file.path, snapshot)
  return {
    ...{ config, document, format, path: resolve(path), notRemembered, checkScripts, host },
    get warnings() {
      return parsed.warnings
    },
    fingerprint: async () => fingerprint,
  }
}
