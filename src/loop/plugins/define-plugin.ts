import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, oneOf, options, required } from '../../contract/shape/shape.ts'
import { toolName } from '../../contract/tool/tool-result.ts'
import type { AgentPlugin } from '../../types/run/hooks.ts'
import type { PluginDefinition } from '../../types/run/plugin.ts'
import { joined } from './joined-plugins.ts'
import type { JoinablePlugin } from './plugin-port.ts'

const definitionTable = options<PluginDefinition>({
  name: required(toolName),
  covers: oneOf('agent', 'tree'),
  begin: required(aFunction),
})

/**
 * Makes a plugin of an agent: a feature that joins its runs, with state of its own for each run. Experimental: a minor version may change it.
 *
 * **Contract**
 * - `begin` is called when a run begins, after `agentStart`; what it returns are the stages of that run. See {@link PluginDefinition}'s `PluginStages` for
 *   what each may do and in which order plugins are asked.
 * - Two plugins of one name are refused, as their notes would be one.
 * - Throws `ConfigError` `invalidOption` for a definition that cannot work.
 *
 * Source: docs/concepts/plugins.md
 *
 * @example
 * ```ts
 * const clock = definePlugin({
 *   name: 'clock',
 *   begin: () => ({ request: ({ systemPrompt }) => ({ systemPrompt: `${systemPrompt}\nNow: ${new Date().toISOString()}` }) }),
 * })
 * const agent = new Agent({ model, plugins: [clock] })
 * ```
 */
export function definePlugin(definition: PluginDefinition): AgentPlugin {
  checkOptions(definition, definitionTable, 'definePlugin()')
  return new Plugin(definition)
}

class Plugin implements JoinablePlugin {
  readonly name: string
  readonly covers: 'agent' | 'tree'
  readonly begin: PluginDefinition['begin']

  constructor({ name, covers = 'agent', begin }: PluginDefinition) {
    this.name = name
    this.covers = covers
    this.begin = begin
  }

  join(...[plugins, host]: Parameters<JoinablePlugin['join']>): ReturnType<JoinablePlugin['join']> {
    return joined(plugins.filter(isPlugin), host)
  }
}

/** Also one that another copy of this package made. */
function isPlugin(plugin: AgentPlugin): plugin is AgentPlugin & Pick<PluginDefinition, 'begin'> {
  return 'begin' in plugin && typeof plugin.begin === 'function'
}
