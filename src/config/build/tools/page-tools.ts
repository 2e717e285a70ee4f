import type { Choices } from '../../../agent/choices.ts'
import { ConfigError, errorText } from '../../../contract/errors.ts'
import { clientTool, trustInPage } from '../../../tools/client-tool.ts'
import type { Model } from '../../../types/model/model.ts'
import type { AgentTool } from '../../../types/tool/tool.ts'
import { fieldError, fieldOf, type Path } from '../../config-error.ts'
import type { ChoicesSection, ClientToolSection } from '../../schema/page-sections.ts'
import type { Build } from '../build.ts'
import { modelFor } from '../model/model.ts'
import { thinkingOf } from '../settings.ts'
import { type Toolbox, type ToolWish, toolsOf } from './toolbox.ts'

const chosen: Path = ['choices', 'tools']

/** The tools of the file that pages run. Throws `ConfigError` at the section of one that cannot be. */
export function clientToolsOf({ config }: Build): AgentTool[] {
  return (config.client_tools?.instances ?? []).map((section, at) => toolOf(section, ['client_tools', 'instances', at]))
}

function toolOf(section: ClientToolSection, path: Path): AgentTool {
  const { name, description, parameters, output, needs_approval, timeout_secs, max_result_chars } = section
  const trust = trustInPage.words.find((each) => each === section.trust?.toLowerCase())
  try {
    return clientTool({
      ...{ name, description, parameters },
      ...(output !== undefined && { output }),
      ...(needs_approval !== undefined && { needsApproval: needs_approval }),
      ...(timeout_secs !== undefined && { timeoutMs: timeout_secs * 1000 }),
      ...(trust !== undefined && { trust }),
      ...(max_result_chars !== undefined && { maxResultChars: max_result_chars }),
    })
  } catch (error) {
    const code = ConfigError.isInstance(error) ? error.code : 'invalidTool'
    throw fieldError(code, path, `${fieldOf(path)} cannot be used: ${errorText(error)}`, error)
  }
}

/** The names that prompts may switch on, for the tools to be made. */
export function choiceWish({ config }: Build): ToolWish {
  return { names: config.choices?.tools ?? [], path: chosen }
}

/** What prompts may choose; undefined where the file says nothing of it. */
export async function choicesOf(build: Build, box: Toolbox): Promise<Choices | undefined> {
  const { choices } = build.config
  if (choices === undefined) return undefined
  const { thinking, tools, client_tools: clientTools } = choices
  const levels = thinking?.flatMap((value, at) => thinkingOf({ value, path: ['choices', 'thinking', at] }) ?? [])
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
