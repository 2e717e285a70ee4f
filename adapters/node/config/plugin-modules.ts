import { realpathSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorText } from '../../../src/contract/errors.ts'
import { ConfigError } from '../../../src/index.ts'
import type { AgentPlugin } from '../../../src/loop.ts'
import { isWithin } from '../policy/programs.ts'
import { absolute, codeOfPlugin } from './commands.ts'

const modules = /^\.[cm]?[jt]s$/
const write = 'Use export default definePlugin({ name, begin }), or a function that returns such a plugin.'

/** Throws for code that changed after the agent file was read. */
type CheckDigests = (digests: Iterable<readonly [path: string, digest: string]>) => void

/** A module in `[agent] plugins`, resolved from its agent file's folder. */
export interface PluginModule {
  /** The path as written in the agent file. */
  given: string
  /** The absolute path. */
  path: string
}

/**
 * Resolves a plugin module. Throws `ConfigError`: `io` if it does not exist, `invalidOption` for a wrong extension, `untrusted` for a link
 * out of `folder`. A path that visibly leads out of `folder` is allowed, because trust is requested for it.
 */
export function pluginModule(given: string, folder: string): PluginModule {
  const path = absolute(folder, given)
  if (!modules.test(extname(path)))
    throw new ConfigError(
      'invalidOption',
      `${shown(given)} does not have a module name. It must end in .js, .mjs, .cjs, .ts, .mts or .cts.`,
    )
  let real: string
  try {
    real = realpathSync(path)
  } catch (error) {
    throw new ConfigError(
      'io',
      `${shown(given)} cannot be loaded: the file ${path} does not exist. Paths are relative to the agent file.`,
      {
        cause: error,
      },
    )
  }
  if (isWithin(folder, path) && !isWithin(realpathSync(folder), real))
    throw new ConfigError(
      'untrusted',
      `${shown(given)} is a link to a target outside ${folder}. Pass the file itself, so that it can be trusted.`,
    )
  return { given, path }
}

/**
 * Loads the plugins of a module: its default export, or without one every export. An export is a plugin, or a function that gets `{
 * definePlugin }` and returns a plugin. `check` throws for code that changed after the agent file was read. Rejects with the same errors as
 * {@link pluginModule}, and with `invalidOption` if the module cannot be loaded or exports no plugin.
 */
export async function loadPlugins(given: string, folder: string, check: CheckDigests): Promise<AgentPlugin[]> {
  const module = pluginModule(given, folder)
  const { digests } = await codeOfPlugin(module.path)
  check(digests)
  const exported = Object.entries(await imported(module, digests.get(module.path) ?? ''))
  const own = exported.find(([name]) => name === 'default')
  const chosen = own === undefined ? exported : [own]
  if (chosen.length === 0) throw new ConfigError('invalidOption', `${shown(given)} exports nothing. ${write}`)
  const plugins: AgentPlugin[] = []
  for (const [name, value] of chosen) plugins.push(await pluginOf(given, name, value))
  return plugins
}

/** A changed file is another module, because Node caches modules by URL. */
async function imported({ given, path }: PluginModule, digest: string): Promise<object> {
  const address = pathToFileURL(resolve(path))
  address.searchParams.set('digest', digest.slice(-16))
  try {
    // For webpack, which would otherwise search for the file at build time and warn.
    return await import(/* webpackIgnore: true */ address.href)
  } catch (error) {
    const advice = isUnknownKind(error) ? ' This Node runs no TypeScript: use JavaScript, or Node 22.18 or later.' : ''
    throw new ConfigError('invalidOption', `${shown(given)} cannot be loaded: ${errorText(error).replace(/[.!?]?$/, '.')}${advice}`, {
      cause: error,
    })
  }
}

function isUnknownKind(error: unknown): boolean {
  return Object(error).code === 'ERR_UNKNOWN_FILE_EXTENSION'
}

async function pluginOf(given: string, name: string, value: unknown): Promise<AgentPlugin> {
  const where = `${shown(given)}: the export ${JSON.stringify(name)}`
  const isMaker = isFunction(value)
  const made: unknown = isMaker ? await madeBy(value, where) : value
  if (isPlugin(made)) return made
  const what = made === null ? 'null' : `a value of type ${typeof made}`
  throw new ConfigError('invalidOption', `${where} ${isMaker ? 'returned' : 'is'} ${what}, no plugin. ${write}`)
}

async function madeBy(make: (...given: unknown[]) => unknown, where: string): Promise<unknown> {
  const { definePlugin } = await import('../../../src/loop.ts')
  try {
    return await make({ definePlugin })
  } catch (error) {
    throw new ConfigError('invalidOption', `${where} made no plugin: ${errorText(error)}`, { cause: error })
  }
}

function isFunction(value: unknown): value is (...given: unknown[]) => unknown {
  return typeof value === 'function'
}

/** Also accepts a plugin from another copy of this package. */
function isPlugin(value: unknown): value is AgentPlugin {
  const { name, begin, join }: { name?: unknown; begin?: unknown; join?: unknown } = Object(value)
  return typeof name === 'string' && typeof begin === 'function' && typeof join === 'function'
}

function shown(given: string): string {
  return `The plugin ${JSON.stringify(given)}`
}
