import { aModel } from '../base/argument-checks.ts'
import { logWarning } from '../base/log-warning.ts'
import { ConfigError, errorText, PhiError } from '../contract/errors.ts'
import { ownOf } from '../contract/json.ts'
import { type ClientToolDeclaration, type ThinkingLevel, type ToolChoice, thinkingLevel } from '../contract/model/request-settings.ts'
import { nearest } from '../contract/shape/nearest-name.ts'
import { either, fixedListOf, listOf, options, recordOf } from '../contract/shape/shape.ts'
import { toolName } from '../contract/tool/tool-result.ts'
import { aTool, checkToolNames, toolList } from '../loop/check-config.ts'
import { clientTool } from '../tools/client-tool.ts'
import type { Logger } from '../types/logger.ts'
import type { Model } from '../types/model/model.ts'
import type { LoopHooks } from '../types/run/turn.ts'
import type { AgentTool } from '../types/tool/tool.ts'

/**
 * Allow-list of models and tools that prompts may select by name, including prompts from remote clients. Other names are rejected.
 * Source: docs/guides/use-chat.md
 */
export interface Choices {
  /** Selectable models by name. Default: only the agent's own model. */
  models?: Readonly<Record<string, Model>>
  /** Selectable thinking levels. Default: all levels for the application's prompts. For remote clients, the levels in `clientSettings`. */
  thinking?: readonly ThinkingLevel[]
  /** Tools that a prompt can enable. One name can enable several tools. Default: none. */
  tools?: Readonly<Record<string, AgentTool | readonly AgentTool[]>>
  /** Names of client tools that a client can declare. The model sees the client's descriptions. Default: none. */
  clientTools?: readonly string[]
}

export const choicesShape = options<Choices>({
  models: recordOf(aModel),
  thinking: listOf(thinkingLevel),
  tools: recordOf(either(toolList, aTool)),
  clientTools: fixedListOf(toolName),
})

/** Models and tools that a prompt selects. */
export interface PromptChoice {
  model?: string
  tools?: readonly string[]
  clientTools?: readonly ClientToolDeclaration[]
  thinking?: ThinkingLevel
}

/** Agent settings that define the allowed choices. */
interface Choosable {
  model: Model
  tools?: readonly AgentTool[]
  choices?: Choices
  logger?: Logger | false
}

/** Maximum client tool declarations per prompt, and maximum characters per declaration. */
const maxClientTools = 32
const maxDeclaration = 20_000

/** Throws `ConfigError` if two choices define a tool of the same name. */
export function checkChoices({ tools = [], choices }: Pick<Choosable, 'tools' | 'choices'>): void {
  if (choices === undefined) return
  const { tools: groups = {}, clientTools = [] } = choices
  checkToolNames([...tools, ...Object.values(groups).flat()])
  for (const name of clientTools) {
    const taken = tools.find((tool) => tool.name === name)
    if (taken !== undefined && taken.client === undefined)
      throw new ConfigError(
        'invalidOption',
        `choices.clientTools names ${JSON.stringify(name)}, which is a tool of the agent that no page runs.`,
      )
  }
}

/** Rejects unlisted choices. Throws `ConfigError` `notAllowed` with the name, and `invalidMessage` for an invalid client tool. */
export function checkChoice(settings: Choosable, { model, tools = [], clientTools = [], thinking }: PromptChoice): void {
  const { models = {}, thinking: levels, tools: groups = {} } = settings.choices ?? {}
  if (model !== undefined && !Object.hasOwn(models, model)) refuse('model', model, Object.keys(models))
  if (thinking !== undefined && levels?.includes(thinking) === false) refuse('thinking', thinking, levels)
  for (const name of tools) if (!Object.hasOwn(groups, name)) refuse('tools', name, Object.keys(groups))
  if (clientTools.length > maxClientTools)
    throw new ConfigError('notAllowed', `Too many client tools: ${clientTools.length}. A client may send at most ${maxClientTools}.`)
  pageTools(settings, clientTools)
}

/** Applies choices to settings. Skips recorded choices that the agent no longer lists, and logs a warning. */
export function chosen<Settings extends Choosable>(settings: Settings, choice: PromptChoice): Settings {
  const { model, tools, clientTools } = choice
  if (model === undefined && tools === undefined && clientTools === undefined) return settings
  const { models = {} } = settings.choices ?? {}
  const known = model !== undefined ? ownOf(models, model) : undefined
  if (model !== undefined && known === undefined) warnMissing(settings, `the model ${JSON.stringify(model)}`)
  return { ...settings, ...(known !== undefined && { model: known }), tools: [...(settings.tools ?? []), ...extraTools(settings, choice)] }
}

/** Returns a prompt's additional tools. */
export function extraTools(settings: Choosable, { tools = [], clientTools = [] }: PromptChoice): readonly AgentTool[] {
  const { tools: groups = {} } = settings.choices ?? {}
  const switchedOn = [...new Set(tools)].flatMap((name) => ownOf(groups, name) ?? [])
  try {
    return [...switchedOn, ...pageTools(settings, clientTools)]
  } catch (error) {
    warnMissing(settings, errorText(error))
    return switchedOn
  }
}

/** Returns the declared client tools. If the agent defines a client tool of the same name, the agent's definition wins. */
function pageTools({ tools: own = [], choices }: Choosable, declared: readonly ClientToolDeclaration[]): AgentTool[] {
  const { clientTools: allowed = [], tools: groups = {} } = choices ?? {}
  const taken = new Map([...own, ...Object.values(groups).flat()].map((tool) => [tool.name, tool]))
  const tools: AgentTool[] = []
  for (const declaration of declared) {
    const { name, description, parameters } = declaration
    const other = taken.get(name)
    if (other?.client !== undefined && own.includes(other)) continue
    if (other !== undefined)
      throw new ConfigError(
        'notAllowed',
        `Client tool ${JSON.stringify(name)} is not allowed: the agent already has a tool with that name.`,
      )
    if (!allowed.includes(name)) refuse('clientTools', name, allowed)
    if (description.length + JSON.stringify(parameters).length > maxDeclaration)
      throw new ConfigError(
        'notAllowed',
        `The declaration of client tool ${JSON.stringify(name)} is longer than ${maxDeclaration} characters.`,
      )
    const tool = madeOf(declaration)
    taken.set(name, tool)
    tools.push(tool)
  }
  return tools
}

const known = new WeakMap<ClientToolDeclaration, AgentTool>()

/** Returns the same tool object for the same declaration, so that compiled schemas and encoded tools stay cached. */
function madeOf(declared: ClientToolDeclaration): AgentTool {
  const { name, description, parameters } = declared
  const before = known.get(declared)
  if (before !== undefined) return before
  try {
    const tool = clientTool({ name, description, parameters })
    known.set(declared, tool)
    return tool
  } catch (error) {
    throw PhiError.isInstance(error) ? new ConfigError('invalidMessage', `The page's ${error.message}`, { cause: error }) : error
  }
}

function refuse(what: string, name: string, allowed: readonly string[]): never {
  const listed = allowed.length === 0 ? 'none' : allowed.join(', ')
  throw new ConfigError(
    'notAllowed',
    `Invalid ${what}: the agent does not offer ${JSON.stringify(name.slice(0, 60))}. Choose one of: ${listed}.`,
  )
}

function warnMissing({ logger }: Choosable, what: string): void {
  logWarning(logger, 'choiceGone', {
    message: `The run continues without some options of its prompt: ${what}.`,
    hint: 'The agent no longer offers them.',
  })
}

/**
 * Throws `ConfigError` `notAllowed` if a tool choice names a tool that the agent lacks. Skips the check if a hook may add tools, because
 * their names are unknown before the turn.
 */
export function checkToolChoice(
  choice: ToolChoice | undefined,
  { tools = [], choices, hooks }: Choosable & { hooks?: LoopHooks | undefined },
): void {
  if (typeof choice !== 'object' || hooks?.prepareTurn !== undefined) return
  const known = [...tools, ...tools.flatMap(({ companions = [] }) => companions), ...Object.values(choices?.tools ?? {}).flat()]
  const names = known.map(({ name }) => name)
  const missing = ('tool' in choice ? [choice.tool] : choice.allowed).find((name) => !names.includes(name))
  if (missing === undefined) return
  const shownName = JSON.stringify(missing.slice(0, 80))
  throw new ConfigError('notAllowed', `toolChoice names ${shownName}, a tool that the agent does not have. ${nearest(missing, names)}`)
}
