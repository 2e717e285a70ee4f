import { extname, resolve } from 'node:path'
import { type ConfigFormat, type ConfigHost, type ParsedConfig, parseConfig } from '../../../src/config.ts'
import { ownOf } from '../../../src/contract/json.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aText } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { absolute } from './commands.ts'
import { hostOfNode, type NodeHostOptions, nodeHostOptions, textOfFile } from './node-host.ts'
import { assertScripts, takeSnapshot } from './snapshot.ts'

/** How a file is read, and what of its host is not taken from Node. Source: docs/reference/configuration.md */
export interface LoadConfigOptions extends NodeHostOptions {}

/** An agent file that was read, and what this machine gives it. */
export interface LoadedConfig extends ParsedConfig {
  /** Absolute. */
  path: string
  /**
   * What trust in the file is remembered by, together with its path: SHA-256, hexadecimal, of its text and, where it needs trust, of the directory it
   * works in and of all code that it would run, as it was when it was read. Undefined where nobody can know what that is: ask each time.
   */
  fingerprint(): Promise<string | undefined>
  /** Why trust cannot be remembered: a line for each script, server and plugin of which nobody can know what it loads. */
  notRemembered: readonly string[]
  /** Throws `ConfigError` for a script of `[callbacks]` or a plugin that cannot run: call it before you ask a person for trust. */
  checkScripts(): void
  /** For `agentFromConfig(loaded.config, loaded.host)`. */
  host: ConfigHost
}

const formats: Readonly<Record<string, ConfigFormat>> = { '.toml': 'toml', '.json': 'json', '.yaml': 'yaml', '.yml': 'yaml' }

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
      `${path} is no agent file: its name must end in ${known}. Read it yourself, and use parseConfig.`,
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
