import { type BackgroundOptions, SubAgentTool } from '../../../agent/sub-agent/sub-agent-tool.ts'
import { onRunEnd } from '../../../contract/run/settings.ts'
import { invalidField, type Path } from '../../config-error.ts'
import type { AgentPlace } from '../../config-host.ts'
import { parseReference } from '../../references.ts'
import type { SubAgentSection } from '../../schema/sections.ts'
import type { Build } from '../build.ts'
import { modelFor, priorityOf } from '../model/model.ts'
import { systemPromptOf } from '../prompt.ts'
import { requestSettingsOf, thinkingOf } from '../settings.ts'
import { chosenTools, skillsAt, type Toolbox, type ToolWish } from './toolbox.ts'

const root: Path = ['sub_agents', 'instances']

/** The names that sub-agents may use, for the tools to be made. */
export function subAgentWishes({ config }: Build): ToolWish[] {
  return (config.sub_agents?.instances ?? []).map(({ tools = [] }, at) => ({ names: tools, path: [...root, at, 'tools'] }))
}

/** Every sub-agent of the file as a tool. They take nothing from the agent but where it works. */
export async function subAgentsAt(build: Build, place: AgentPlace, box: Toolbox): Promise<SubAgentTool[]> {
  const sections = build.config.sub_agents?.instances ?? []
  return Promise.all(sections.map((section, at) => subAgent(build, section, [...root, at], place, box)))
}

async function subAgent(build: Build, section: SubAgentSection, path: Path, place: AgentPlace, box: Toolbox): Promise<SubAgentTool> {
  const { name, description, model, provider, thinking_level, system_prompt = '' } = section
  const { max_turns, max_total_tokens, max_duration_secs, tools = [], skills: names } = section
  const skills = names === undefined ? undefined : await skillsAt(build, place, { value: names, path: [...path, 'skills'] })
  const thinking = thinking_level === undefined ? undefined : thinkingOf({ value: thinking_level, path: [...path, 'thinking_level'] })
  const { logger } = build.host
  const priority = priorityOf({ value: section.priority, path }) ?? (section.background === true ? 'background' : 'person')
  return new SubAgentTool({
    name,
    description,
    model: await modelFor(build, { provider, model, priority, path: [...path, 'provider'] }),
    systemPrompt: await systemPromptOf(build, { text: system_prompt, path: [...path, 'system_prompt'] }, place),
    tools: chosenTools(box, { names: tools, path: [...path, 'tools'] }),
    ...(skills !== undefined && { skills }),
    ...(thinking !== undefined && { thinking }),
    ...requestSettingsOf(section),
    ...(max_turns !== undefined && { maxTurns: max_turns }),
    ...(max_total_tokens !== undefined && { maxTotalTokens: max_total_tokens }),
    ...(max_duration_secs !== undefined && { maxDurationMs: max_duration_secs * 1000 }),
    ...(section.background === true && { background: backgroundOf(section, path) }),
    ...(logger !== undefined && { logger }),
  })
}

function backgroundOf({ on_run_end: said, max_running }: SubAgentSection, path: Path): BackgroundOptions {
  const word = onRunEnd.words.find((each) => each === said?.toLowerCase())
  if (said !== undefined && word === undefined) throw invalidField([...path, 'on_run_end'], said, onRunEnd.words.join(', '))
  return {
    ...(word !== undefined && { onRunEnd: word }),
    ...(max_running !== undefined && { maxRunning: max_running }),
  }
}

/** The sub-agent that an entry of `[tools] enabled` names, if it names one: it is there anyway. */
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
