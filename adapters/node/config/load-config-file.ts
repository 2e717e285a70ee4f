import type { LoadConfigOptions, LoadedConfig } from './loaded-config.ts'
import { readConfigFile } from './read-config-file.ts'

/**
 * Reads an agent file, its format by its extension, and gives a host that fills its needs from this machine. The host has the environment, the six tools in
 * directories, MCP servers over stdio and HTTP, scripts as hooks and modules with plugins.
 *
 * **Contract**
 * - Reads the file, and the code that its scripts, servers and plugins name. Code that has changed since is not run: agents are not made then (`ConfigError`
 *   `untrusted`), and a server is not started again. The host does its work in `agentFromConfig`, and what needs trust only with `trust`.
 * - Paths of the file are relative to `root`, by default the directory of this process; those of plugins are relative to its own folder. A link within it that leads out is refused.
 * - Rejects with `ConfigError` `io` for a file that cannot be read, `invalidOption` for another extension than `.toml`, `.json`, `.yaml`, `.yml`, and as
 *   `parseConfig`. Where the file keeps conversations, give `sessions`.
 *
 * Source: docs/concepts/configuration.md
 *
 * @example
 * ```ts
 * const { config, host } = await loadConfigFile('agent.toml', { trust: (request) => ask(request) })
 * const agent = await agentFromConfig(config, host)
 * ```
 */
export async function loadConfigFile(path: string, options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  return readConfigFile(path, options)
}
