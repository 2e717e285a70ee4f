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
 * Creates a plugin, which adds a feature to an agent's runs, with separate state per run. Experimental: may change in a minor version.
 *
 * **Contract**
 * - `begin` is called when a run starts, after `agentStart`, and returns the stages for that run. See `PluginStages` of {@link
 *   PluginDefinition} for their effects and order.
 * - Plugin names must be unique per agent, because plugins with the same name would share notes.
 * - Throws `ConfigError` `invalidOption` for an invalid definition.
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

/** Returns whether a value is a plugin. Accepts plugins from another copy of this package. */
function isPlugin(plugin: AgentPlugin): plugin is AgentPlugin & Pick<PluginDefinition, 'begin'> {
  return 'begin' in plugin && typeof plugin.begin === 'function'
}
