import { open } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { aText, checkOptions } from '../../../src/base/check-options.ts'
import { sha256 } from '../../../src/base/sha256.ts'
import { type ConfigFormat, type ConfigHost, type ParsedConfig, parseConfig } from '../../../src/config/index.ts'
import { ConfigError } from '../../../src/index.ts'
import { systemCode } from '../workspace/fs-errors.ts'
import { hostOfNode, type NodeHostOptions, nodeHostOptions } from './node-host.ts'

/** How a file is read, and what of its host is not taken from Node. Source: docs/concepts/configuration.md */
export interface LoadConfigOptions extends NodeHostOptions {}

/** An agent file that was read, and what this machine gives it. */
export interface LoadedConfig extends ParsedConfig {
  /** Absolute. */
  path: string
  /** SHA-256 of the text, hexadecimal: what trust in a file is remembered by, together with its path. */
  sha256: string
  /** For `agentFromConfig(loaded.config, loaded.host)`. */
  host: ConfigHost
}

const formats: Readonly<Record<string, ConfigFormat>> = { '.toml': 'toml', '.json': 'json', '.yaml': 'yaml', '.yml': 'yaml' }

/** Bytes: no file of so many is an agent file, whatever their encoding says. */
const maxBytes = 524_288

/**
 * Reads an agent file, its format by its extension, and gives a host that fills its needs from this machine: the environment, the six tools in
 * directories, MCP servers over stdio and HTTP, scripts as hooks.
 *
 * **Contract**
 * - Reads the file and nothing else; what the host does happens in `agentFromConfig`, and what needs trust only with `trust`.
 * - Paths of the file are relative to `root`, by default the directory of this process. A link within it that leads out is refused.
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
  checkOptions(path, aText, 'path')
  checkOptions(options, nodeHostOptions)
  const extension = extname(path).toLowerCase()
  const format = Object.hasOwn(formats, extension) ? formats[extension] : undefined
  if (format === undefined) {
    const known = Object.keys(formats).join(', ')
    throw new ConfigError(
      'invalidOption',
      `${path} is no agent file: its name must end in ${known}. Read it yourself, and use parseConfig.`,
    )
  }
  const text = await textOfFile(path)
  return { ...(await parseConfig(text, format)), path: resolve(path), sha256: sha256(text), host: hostOfNode(options) }
}

/** A FIFO or device would never end, so no more than the limit is ever read of anything. */
async function textOfFile(path: string): Promise<string> {
  try {
    await using file = await open(path, 'r')
    const stats = await file.stat()
    if (!stats.isFile()) throw new ConfigError('io', `${path} cannot be read: it is no regular file.`)
    const buffer = new Uint8Array(maxBytes + 1)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    if (bytesRead > maxBytes) throw new ConfigError('parse', `${path} is longer than ${maxBytes} bytes, which no agent file is.`)
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead))
  } catch (error) {
    if (ConfigError.isInstance(error)) throw error
    if (error instanceof TypeError) throw new ConfigError('parse', `${path} is no text in UTF-8.`, { cause: error })
    throw new ConfigError('io', `${path} cannot be read: ${systemCode(error) ?? 'it cannot be opened'}.`, { cause: error })
  }
}
