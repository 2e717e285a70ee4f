import { ConfigError, errorText } from '../../contract/errors.ts'
import type { AgentPlugin } from '../../types/run/hooks.ts'
import type { HookScripts, LoopHooks, ScriptableHook } from '../../types/run/turn.ts'
import { fieldError, fieldOf, invalidField, needs } from '../config-error.ts'
import type { AgentPlace } from '../config-host.ts'
import type { AgentConfig, CallbacksSection } from '../schema/sections.ts'
import { type Build, shared } from './build.ts'

const hookOf: { readonly [Name in Exclude<keyof CallbacksSection, 'before_task' | 'after_task'>]: ScriptableHook } = {
  before_loop: 'beforeLoop',
  after_loop: 'afterLoop',
  before_turn: 'beforeTurn',
  after_turn: 'afterTurn',
  before_tool_execution: 'beforeToolExecution',
  after_tool_execution: 'afterToolExecution',
  before_tool_execution_update: 'beforeToolExecutionUpdate',
  after_tool_execution_update: 'afterToolExecutionUpdate',
  before_compaction_start: 'beforeCompactionStart',
  after_compaction_end: 'afterCompactionEnd',
  on_error: 'onError',
}

/** The scripts that `[callbacks]` names, by their hooks. Throws `ConfigError` for what no script can be. */
export function scriptsOf(config: AgentConfig): HookScripts {
  refuseFunctions(config)
  return Object.fromEntries(
    Object.entries(hookOf).flatMap(([name, hook]) => {
      const script = scriptOf(config, name)
      return script === undefined ? [] : [[hook, script]]
    }),
  )
}

/** The hooks that `[callbacks]` asks for, made by the host. Throws as {@link scriptsOf}. */
export function hooksOf({ config, host }: Build, place: AgentPlace): LoopHooks | undefined {
  const scripts = scriptsOf(config)
  if (Object.keys(scripts).length === 0) return undefined
  if (host.scriptHooks === undefined) throw needs(['callbacks'], 'names scripts', 'scriptHooks')
  return host.scriptHooks(scripts, place)
}

function scriptOf({ callbacks }: AgentConfig, name: string): string | undefined {
  const script: unknown = callbacks === undefined ? undefined : Reflect.get(callbacks, name)
  if (typeof script !== 'string') return undefined
  if (script.trim() !== '' && !script.includes('::')) return script
  throw invalidField(['callbacks', name], script, 'the path of a script', 'Functions of plugins are hooks of the agent, set in code.')
}

function refuseFunctions({ callbacks, hooks }: AgentConfig): void {
  for (const name of ['before_task', 'after_task'] as const) {
    if (callbacks?.[name] !== undefined)
      throw onlyInCode(['callbacks', name], 'withTaskHooks of phi-core/session does this, around the store')
  }
  for (const name of Object.keys(hooks ?? {})) throw onlyInCode(['hooks', name], 'it is a function, and agent.configure sets it')
}

function onlyInCode(path: readonly string[], how: string): ConfigError {
  return fieldError('unsupported', path, `${fieldOf(path)} cannot be said in a file: ${how}. Leave it out.`)
}

/** The plugins of `[agent] plugins`, in the order of the file. All agents of a configuration share them. Rejects with `ConfigError` that has the `field`. */
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
