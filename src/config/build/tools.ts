import type { Choices } from '../../agent/choices.ts'
import { SubAgentTool } from '../../agent/sub-agent/sub-agent-tool.ts'
import { ConfigError, errorText } from '../../contract/errors.ts'
import { definedFields } from '../../contract/json.ts'
import { clientTool } from '../../tools/client-tool.ts'
import type { Model } from '../../types/model/model.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { fieldError, fieldOf, type Path } from '../config-error.ts'
import type { AgentPlace } from '../config-host.ts'
import { parseReference } from '../references.ts'
import {
  agentSettingsKeys,
  type ChoicesSection,
  type ClientToolSection,
  clientToolKeys,
  type SubAgentSection,
  subAgentKeys,
} from '../schema/agent-sections.ts'
import { optionOf, optionsOf } from '../schema/key-table.ts'
import type { Build } from './build.ts'
import { modelFor } from './model.ts'
import { systemPromptOf } from './prompt.ts'
import { chosenTools, skillsAt, type Toolbox, type ToolWish, toolsOf } from './toolbox.ts'

const chosen: Path = ['choices', 'tools']

/** Creates the file's client tools. For an invalid tool, throws a `ConfigError` that includes the section. */
export function clientToolsOf({ config }: Build): AgentTool[] {
  return (config.client_tools?.instances ?? []).map((section, at) => clientToolOf(section, ['client_tools', 'instances', at]))
}

function clientToolOf(section: ClientToolSection, path: Path): AgentTool {
  const options = optionsOf(clientToolKeys, section, path)
  try {
    return clientTool(options)
  } catch (error) {
    const code = ConfigError.isInstance(error) ? error.code : 'invalidTool'
    throw fieldError(code, path, `${fieldOf(path)} cannot be used: ${errorText(error)}`, error)
  }
}

/** Returns the names of the tools that prompts can enable. */
export function choiceWish({ config }: Build): ToolWish {
  return { names: config.choices?.tools ?? [], path: chosen }
}

/** Returns the options that prompts can select, or `undefined` if the file defines none. */
export async function choicesOf(build: Build, box: Toolbox): Promise<Choices | undefined> {
  const { choices } = build.config
  if (choices === undefined) return undefined
  const { thinking, tools, client_tools: clientTools } = choices
  const levels = thinking?.map((level, at) => optionOf(agentSettingsKeys.thinking_level, level, ['choices', 'thinking', at]))
  return {
    models: await modelsOf(build, choices),
    ...(levels !== undefined && { thinking: levels }),
    ...(tools !== undefined && {
      tools: Object.fromEntries(tools.map((name, at) => [name, toolsOf(box, name, [...chosen, at])])),
    }),
    ...(clientTools !== undefined && { clientTools }),
  }
}

async function modelsOf(build: Build, { models = {} }: ChoicesSection): Promise<Record<string, Model>> {
  const made = Object.entries(models).map(
    async ([name, provider]) => [name, await modelFor(build, { provider, priority: 'person', path: ['choices', 'models', name] })] as const,
  )
  return Object.fromEntries(await Promise.all(made))
}

const subAgents: Path = ['sub_agents', 'instances']

/** Returns the tool names that sub-agents use. */
export function subAgentWishes({ config }: Build): ToolWish[] {
  return (config.sub_agents?.instances ?? []).map(({ tools = [] }, at) => ({ names: tools, path: [...subAgents, at, 'tools'] }))
}

/** Creates a tool for each sub-agent in the file. Sub-agents share only the workspace with the agent. */
export async function subAgentsAt(build: Build, place: AgentPlace, box: Toolbox): Promise<SubAgentTool[]> {
  const sections = build.config.sub_agents?.instances ?? []
  return Promise.all(sections.map((section, at) => subAgent(build, section, [...subAgents, at], place, box)))
}

async function subAgent(build: Build, section: SubAgentSection, path: Path, place: AgentPlace, box: Toolbox): Promise<SubAgentTool> {
  const { id: _, model, provider, system_prompt = '', skills: names, tools = [], background = false, ...own } = section
  const {
    thinkingLevel,
    onRunEnd,
    maxRunning,
    priority = background ? 'background' : 'person',
    ...options
  } = optionsOf(subAgentKeys, own, path)
  const skills = names === undefined ? undefined : await skillsAt(build, place, { value: names, path: [...path, 'skills'] })
  const { logger } = build.host
  return new SubAgentTool({
    ...options,
    model: await modelFor(build, { provider, model, priority, path: [...path, 'provider'] }),
    systemPrompt: await systemPromptOf(build, { text: system_prompt, path: [...path, 'system_prompt'] }, place),
    tools: chosenTools(box, { names: tools, path: [...path, 'tools'] }),
    ...(skills !== undefined && { skills }),
    ...(thinkingLevel !== undefined && { thinking: thinkingLevel }),
    ...(background && { background: definedFields({ onRunEnd, maxRunning }) }),
    ...(logger !== undefined && { logger }),
  })
}

/** Returns whether an entry of `[tools] enabled` names a sub-agent, which is always available. */
export function isSubAgentName({ config }: Build, entry: string): boolean {
  const reference = parseReference(entry)
  if (reference === 'malformed') return false
  const wanted = reference?.name ?? entry
  if (reference?.namespace !== undefined && reference.namespace !== 'sub_agent') return false
  return (config.sub_agents?.instances ?? []).some(({ id, name }) => {
    const own = id === undefined ? undefined : parseReference(id)
    return wanted === name || wanted === id || (own !== undefined && own !== 'malformed' && own.name === wanted)
  })
}
