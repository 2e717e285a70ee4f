import type { ConfigHost, ParsedConfig } from '../../../src/config.ts'
import type { NodeHostOptions } from './node-host.ts'

/** How a file is read, and what of its host is not taken from Node. Source: docs/concepts/configuration.md */
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
