import { extname, resolve } from 'node:path'
import { type ConfigFormat, parseConfig } from '../../../src/config.ts'
import { ConfigError } from '../../../src/index.ts'
import { aText, checkOptions, ownOf } from '../../../src/internal.ts'
import { absolute } from './commands.ts'
import type { LoadConfigOptions, LoadedConfig } from './loaded-config.ts'
import { hostOfNode, nodeHostOptions, textOfFile } from './node-host.ts'
import { assertScripts, takeSnapshot } from './snapshot.ts'

const formats: Readonly<Record<string, ConfigFormat>> = { '.toml': 'toml', '.json': 'json', '.yaml': 'yaml', '.yml': 'yaml' }

/** See {@link LoadedConfig}. */
export async function readConfigFile(path: string, options: LoadConfigOptions): Promise<LoadedConfig> {
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
