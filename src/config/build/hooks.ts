import { ConfigError, errorText } from '../../contract/errors.ts'
import type { AgentPlugin } from '../../types/run/hooks.ts'
import type { HookScripts, LoopHooks } from '../../types/run/turn.ts'
import { fieldError, fieldOf, invalidField, needs } from '../config-error.ts'
import type { AgentPlace } from '../config-host.ts'
import { optionsOf } from '../schema/key-table.ts'
import { type AgentConfig, callbacksKeys } from '../schema/sections.ts'
import { type Build, shared } from './build.ts'

/** Returns the scripts of `[callbacks]` by hook. Throws `ConfigError` for an invalid script. */
export function scriptsOf({ callbacks = {}, hooks = {} }: AgentConfig): HookScripts {
  const { before_task, after_task, ...scripts } = callbacks
  for (const [name, task] of Object.entries({ before_task, after_task }))
    if (task !== undefined) throw onlyInCode(['callbacks', name], 'withTaskHooks of phi-core/session does this, around the store')
  for (const name of Object.keys(hooks)) throw onlyInCode(['hooks', name], 'it is a function, and agent.configure sets it')
  for (const [name, script] of Object.entries(scripts))
    if (script.trim() === '' || script.includes('::'))
      throw invalidField(['callbacks', name], script, 'the path of a script', 'Set functions of plugins in code, as hooks of the agent.')
  return optionsOf(callbacksKeys, scripts, ['callbacks'])
}

/** Creates the hooks of `[callbacks]` with the host. Throws like {@link scriptsOf}. */
export function hooksOf({ config, host }: Build, place: AgentPlace): LoopHooks | undefined {
  const scripts = scriptsOf(config)
  if (Object.keys(scripts).length === 0) return undefined
  if (host.scriptHooks === undefined) throw needs(['callbacks'], 'names scripts', 'scriptHooks')
  return host.scriptHooks(scripts, place)
}

function onlyInCode(path: readonly string[], how: string): ConfigError {
  return fieldError('unsupported', path, `${fieldOf(path)} is not supported in a file: ${how}. Remove it.`)
}

/**
 * Loads the plugins of `[agent] plugins`, in file order. All agents of a configuration share them. Rejects with a `ConfigError` that
 * includes the `field`.
 */
export async function pluginsOf(build: Build): Promise<readonly AgentPlugin[] | undefined> {
  const { plugins = [] } = build.config.agent ?? {}
  if (plugins.length === 0) return undefined
  return shared(build.made, 'plugins', async () => (await Promise.all(plugins.map((path, at) => loaded(build, path, at)))).flat())
}

async function loaded({ host }: Build, plugin: string, at: number): Promise<readonly AgentPlugin[]> {
  const path = ['agent', 'plugins', at]
  if (host.loadPlugin === undefined) throw needs(path, 'names a module with plugins', 'loadPlugin, as loadConfigFile of phi-core/node does')
  try {
    return await host.loadPlugin(plugin)
  } catch (error) {
    const code = ConfigError.isInstance(error) ? error.code : 'invalidField'
    throw fieldError(code, path, `${fieldOf(path)}: ${errorText(error)}`, error)
  }
}
