import { Agent } from '../../agent/agent.ts'
import type { AgentOptions } from '../../agent/agent-options.ts'
import { definedFields } from '../../contract/json.ts'
import { toolSearch } from '../../tools/tool-search.ts'
import type { SessionStore } from '../../types/session/session-store.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { invalidField, needs } from '../config-error.ts'
import type { AgentPlace } from '../config-host.ts'
import { agentInstanceKeys } from '../schema/agent-sections.ts'
import { optionOf, optionsOf } from '../schema/key-table.ts'
import { sessionKeys, type ToolsSection } from '../schema/sections.ts'
import { type Build, placeOfAgent } from './build.ts'
import { hooksOf, pluginsOf } from './hooks.ts'
import { modelFor } from './model.ts'
import { systemPromptOf } from './prompt.ts'
import { serversAt } from './servers.ts'
import {
  type AgentSource,
  agentSettings,
  contextConfigOf,
  executionOptions,
  layeredSetting,
  resolveMediaOf,
  toolExecutionOf,
} from './settings.ts'
import { chosenTools, skillsAt, type ToolWish, toolboxAt } from './toolbox.ts'
import { choicesOf, choiceWish, clientToolsOf, isSubAgentName, subAgentsAt, subAgentWishes } from './tools.ts'

/** Creates one agent of the file. */
export async function agentOf(build: Build, source: AgentSource): Promise<Agent> {
  const { config, host } = build
  const { layers, provider, path } = source
  const place = await placeOfSource(build, source)
  const session = sessionStoreOf(build)
  const hooks = hooksOf(build, place)
  const plugins = await pluginsOf(build)
  const priority = source.priority === undefined ? 'person' : optionOf(agentInstanceKeys.priority, source.priority, [...path, 'priority'])
  const model = await modelFor(build, { provider, priority, path: [...path, 'provider'] })
  const { own, choices } = await ownTools(build, place)
  const options = {
    ...{ session, hooks, plugins, choices, workspace: place.workspace, logger: host.logger },
    skills: await skillsAt(build, place, layeredSetting(layers, 'skills')),
    context: config.agent?.context,
    resolveMedia: resolveMediaOf(config),
    ...(await systemPrompt(build, source, place)),
    ...agentSettings(config, layers),
    ...executionOptions(config.execution, model),
    contextConfig: contextConfigOf(build, layeredSetting(layers, 'compaction'), model),
    toolExecution: toolExecutionOf(config.tools),
    offload: offloadOf(config.tools, own, place),
  }
  const isSearched = config.tools?.search_servers === true
  return agentWithServers({ ...definedFields(options), model }, own, { servers: await serversAt(build, place), isSearched })
}

/** Offloading requires an agent that can read files. Otherwise, the agent could not access the content. */
function offloadOf(section: ToolsSection = {}, own: readonly AgentTool[], { workspace }: AgentPlace): AgentOptions['offload'] {
  const { offload_over: over } = section
  if (over === undefined) return undefined
  const path = ['tools', 'offload_over']
  if (workspace === undefined) throw needs(path, 'is set', 'workspace, where the files are')
  if (!own.some(({ name }) => name === 'read_file'))
    throw invalidField(path, over, 'nothing without "read_file" in tools.enabled, which reads the files')
  return { over, workspace }
}

async function agentWithServers(
  options: AgentOptions,
  own: NonNullable<AgentOptions['tools']>,
  { servers, isSearched }: { servers: Awaited<ReturnType<typeof serversAt>>; isSearched: boolean },
): Promise<Agent> {
  if (servers === undefined) return new Agent({ ...options, tools: own })
  const ofServers = () => servers.sets.flat()
  const all = () => [...own, ...(isSearched ? toolSearch(ofServers()) : ofServers())]
  const systemPrompt = [options.systemPrompt, servers.instructions].filter(Boolean).join('\n\n')
  const agent = new Agent({ ...options, ...(systemPrompt !== '' && { systemPrompt }), tools: all(), owns: [servers] })
  // A tool set changes in place, so the agent needs a new list for the next run.
  for (const set of servers.sets) set.subscribe(() => agent.configure({ tools: all() }))
  return agent
}

async function placeOfSource(build: Build, { placeLayers }: AgentSource): Promise<AgentPlace> {
  const workspace = layeredSetting(placeLayers, 'workspace')
  return workspace === undefined ? placeOfAgent(build, '.', ['default_workspace']) : placeOfAgent(build, workspace.value, workspace.path)
}

async function systemPrompt(build: Build, { promptLayers }: AgentSource, place: AgentPlace): Promise<Pick<AgentOptions, 'systemPrompt'>> {
  const prompt = layeredSetting(promptLayers, 'system_prompt')
  return prompt === undefined ? {} : { systemPrompt: await systemPromptOf(build, { text: prompt.value, path: prompt.path }, place) }
}

/** Returns the tools that the agent can use, and the tools that a prompt can enable. */
async function ownTools(
  build: Build,
  place: AgentPlace,
): Promise<{ own: NonNullable<AgentOptions['tools']>; choices: AgentOptions['choices'] }> {
  const { enabled = [] } = build.config.tools ?? {}
  const wish: ToolWish = { names: enabled, path: ['tools', 'enabled'] }
  const box = await toolboxAt(build, place, [wish, choiceWish(build), ...subAgentWishes(build)])
  const chosen = chosenTools(box, wish, (name) => isSubAgentName(build, name))
  return {
    own: [...chosen, ...clientToolsOf(build), ...(await subAgentsAt(build, place, box))],
    choices: await choicesOf(build, box),
  }
}

function sessionStoreOf({ config, host }: Build): SessionStore | undefined {
  const { scope = 'ephemeral' } = optionsOf(sessionKeys, config.session ?? {}, ['session'])
  if (scope === 'ephemeral') return undefined
  if (host.sessions === undefined)
    throw needs(['session', 'scope'], 'is "persistent"', 'sessions, a store such as fileSessionStore("./sessions") of phi-core/node')
  return host.sessions
}
