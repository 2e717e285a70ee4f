import { Agent } from '../../agent/agent.ts'
import type { AgentOptions } from '../../agent/agent-options.ts'
import { toolSearch } from '../../tools/tool-search.ts'
import type { SessionStore } from '../../types/session/session-store.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { invalidField, needs } from '../config-error.ts'
import type { AgentPlace } from '../config-host.ts'
import type { ToolsSection } from '../schema/sections.ts'
import { type Build, placeOfAgent } from './build.ts'
import { hooksOf, pluginsOf } from './hooks.ts'
import { contextConfigOf, executionOptions, toolExecutionOf } from './limits.ts'
import { modelFor, priorityOf } from './model/model.ts'
import { systemPromptOf } from './prompt.ts'
import { serversAt } from './servers.ts'
import { type AgentSource, layeredSettings, resolveMediaOf, said, thinkingOf } from './settings.ts'
import { choicesOf, choiceWish, clientToolsOf } from './tools/page-tools.ts'
import { isSubAgentName, subAgentsAt, subAgentWishes } from './tools/sub-agents.ts'
import { chosenTools, skillsAt, type ToolWish, toolboxAt } from './tools/toolbox.ts'

/** One agent of the file. */
export async function agentOf(build: Build, source: AgentSource): Promise<Agent> {
  const { config, host } = build
  const place = await placeOfSource(build, source)
  const session = sessionStoreOf(build)
  const hooks = hooksOf(build, place)
  const plugins = await pluginsOf(build)
  const { provider, path } = source
  const priority = priorityOf({ value: source.priority, path }) ?? 'person'
  const model = await modelFor(build, { provider, priority, path: [...path, 'provider'] })
  const { own, choices } = await ownTools(build, place)
  const skills = await skillsAt(build, place, said(source.layers, 'skills'))
  const resolveMedia = resolveMediaOf(config)
  const options: AgentOptions = {
    model,
    ...(resolveMedia !== undefined && { resolveMedia }),
    ...(await profileOptions(build, source, place)),
    ...executionOptions(config.execution, model),
    contextConfig: contextConfigOf(build, said(source.layers, 'compaction'), model),
    ...(place.workspace !== undefined && { workspace: place.workspace }),
    ...(hooks !== undefined && { hooks }),
    ...(plugins !== undefined && { plugins }),
    ...(session !== undefined && { session }),
    ...(skills !== undefined && { skills }),
    ...(choices !== undefined && { choices }),
    ...(host.logger !== undefined && { logger: host.logger }),
  }
  const toolExecution = toolExecutionOf(config.tools)
  if (toolExecution !== undefined) options.toolExecution = toolExecution
  const offload = offloadOf(config.tools, own, place)
  if (offload !== undefined) options.offload = offload
  return agentWithServers(options, own, { servers: await serversAt(build, place), isSearched: config.tools?.search_servers === true })
}

/** Who cannot read the files would lose what is in them. */
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
  // A set that its server changes is another list of tools for the next run.
  for (const set of servers.sets) set.subscribe(() => agent.configure({ tools: all() }))
  return agent
}

async function placeOfSource(build: Build, { placeLayers }: AgentSource): Promise<AgentPlace> {
  const workspace = said(placeLayers, 'workspace')
  return workspace === undefined ? placeOfAgent(build, '.', ['default_workspace']) : placeOfAgent(build, workspace.value, workspace.path)
}

async function profileOptions(build: Build, { layers, promptLayers }: AgentSource, place: AgentPlace): Promise<Partial<AgentOptions>> {
  const ofSession = [[build.config.session, ['session']] as const, ...layers]
  const prompt = said(promptLayers, 'system_prompt')
  const thinking = thinkingOf(said(ofSession, 'thinking_level'))
  const temperature = said(ofSession, 'temperature')
  const { headers: _headers, ...settings } = layeredSettings(layers)
  const maxTokens = said(layers, 'max_tokens')
  const configId = said(layers, 'config_id')
  return {
    ...(prompt !== undefined && { systemPrompt: await systemPromptOf(build, { text: prompt.value, path: prompt.path }, place) }),
    ...(thinking !== undefined && { thinking }),
    ...settings,
    ...(temperature !== undefined && { temperature: temperature.value }),
    ...(maxTokens !== undefined && { maxTokens: maxTokens.value }),
    ...(configId !== undefined && { configId: configId.value }),
  }
}

/** What it may use, and what prompts may switch on besides. */
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
  const scope = config.session?.scope?.toLowerCase() ?? 'ephemeral'
  if (scope === 'ephemeral') return undefined
  if (scope !== 'persistent') throw invalidField(['session', 'scope'], scope, '"ephemeral", "persistent"')
  if (host.sessions === undefined)
    throw needs(['session', 'scope'], 'is "persistent"', 'sessions, a store such as fileSessionStore("./sessions") of phi-core/node')
  return host.sessions
}
