import { aModel } from '../../base/argument-checks.ts'
import { ConfigError, callbackFailed } from '../../contract/errors.ts'
import { toMessage } from '../../contract/message/history.ts'
import { settingFields, settingsIn, thinkingLevel, toRecord } from '../../contract/model/request-settings.ts'
import type { TurnChangesRecord } from '../../contract/run/run-facts.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { anything, aText, listOf, options, type Shape } from '../../contract/shape/shape.ts'
import type { SystemPromptFunction, TurnChanges, UpcomingTurn } from '../../types/run/turn.ts'
import { withSkills } from '../../types/tool/skills.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { checkToolNames, toolList } from '../check-config.ts'
import { hookFailed } from '../hooks.ts'
import type { LoopConfig } from '../loop-config.ts'
import type { LoopState } from '../loop-state.ts'
import type { Offer } from './offered-tools.ts'
import type { TurnSetup } from './turn-setup.ts'

/**
 * Runs the callbacks that may change this turn: a system prompt function, then the `prepareTurn` hook. Returns `undefined` if neither is
 * set.
 */
export function prepareTurn(loop: LoopState): Promise<void> | undefined {
  loop.turn = loop.turns.turn()
  const { systemPrompt, hooks } = loop.config
  return systemPrompt === undefined && hooks?.prepareTurn === undefined ? undefined : prepared(loop)
}

async function prepared(loop: LoopState): Promise<void> {
  const { systemPrompt, hooks, skills } = loop.config
  if (systemPrompt !== undefined) loop.turn.systemPrompt = withSkills(await askedPrompt(loop, systemPrompt), skills)
  if (hooks?.prepareTurn === undefined) return
  const changes = await askedChanges(loop, hooks.prepareTurn)
  if (changes === undefined) return
  // Set up the turn again, because settings from a model's factory apply only to that model.
  const { systemPrompt: own } = loop.turn
  loop.turn = changed(loop, { ...loop.turns.turn(changes.model), systemPrompt: own }, changes)
  loop.turn.changes = recordOf(loop.turn, changes)
  loop.events.emit({ type: 'turnPrepared', turnIndex: loop.turnIndex, changes: loop.turn.changes })
}

/**
 * Sets the tools for a turn that runs calls after their approval: the tools from `prepareTurn`, then the agent's. Ignores other changes,
 * because the turn calls no model.
 */
export async function prepareToGoOn(loop: LoopState): Promise<void> {
  loop.turn.goesOn = true
  const { hooks } = loop.config
  if (hooks?.prepareTurn === undefined) return
  const { tools } = (await askedChanges(loop, hooks.prepareTurn)) ?? {}
  if (tools === undefined) return
  const names = new Set(tools.map(({ name }) => name))
  const others = loop.turn.tools.filter(({ name }) => !names.has(name))
  loop.turn.tools = [...tools, ...others]
}

function upcoming(loop: LoopState): UpcomingTurn {
  const { turn, turnIndex, context, options, usage, stop, budget } = loop
  const { model, tools, systemPrompt } = turn
  const { costUsd } = budget.used()
  const lists = { messages: [...context.messages], tools: [...tools] }
  return { context: options.context, turnIndex, ...lists, model, systemPrompt, usage: { ...usage }, costUsd, signal: stop.signal }
}

async function askedPrompt(loop: LoopState, systemPrompt: SystemPromptFunction): Promise<string> {
  try {
    const text: unknown = await loop.stop.race((async () => systemPrompt(upcoming(loop)))())
    if (typeof text === 'string') return text
    throw new TypeError(`it returned ${text === null ? 'null' : typeof text}, not text`)
  } catch (error) {
    if (loop.stop.aborted) throw error
    throw callbackFailed('systemPrompt', error)
  }
}

/** Returns the changes for this turn. If preparation fails, the run fails, because the turn must not run unprepared. */
async function askedChanges(
  loop: LoopState,
  hook: NonNullable<NonNullable<LoopConfig['hooks']>['prepareTurn']>,
): Promise<TurnChanges | undefined> {
  try {
    const answer: unknown = await loop.stop.race((async () => hook({ ...loop.hooks.origin(), ...upcoming(loop) }))())
    if (answer === undefined || answer === null) return undefined
    checkOptions(answer, turnChanges, 'prepareTurn()')
    const changes = answer as TurnChanges // just checked
    if (changes.tools !== undefined) checkToolNames(changes.tools)
    return changes
  } catch (error) {
    if (loop.stop.aborted) throw error
    throw hookFailed('The prepareTurn hook', error)
  }
}

const turnChanges: Shape = options<TurnChanges>({
  ...settingFields,
  model: aModel,
  thinking: thinkingLevel,
  tools: toolList,
  activeTools: listOf(aText),
  systemPrompt: aText,
  messages: listOf(anything),
})

function changed({ context, turns }: LoopState, turn: TurnSetup, changes: TurnChanges): TurnSetup {
  const { model } = turn
  const { thinking, systemPrompt = turn.systemPrompt, activeTools, messages } = changes
  const all = changes.tools ?? context.tools
  const offer = changes.tools === undefined ? turn : turns.offer(all)
  return {
    model,
    systemPrompt,
    ...(activeTools === undefined ? { tools: offer.tools, searchable: offer.searchable } : active(all, offer, activeTools)),
    thinking: thinking ?? turn.thinking,
    settings: { ...turn.settings, ...settingsIn(changes) },
    messages: messages
      ?.map((message, at) => toMessage(message, `prepareTurn().messages[${at}]`))
      .filter((message) => message.role !== 'extension'),
  }
}

/** Selects the active tools. Preserves their order, so that the prompt prefix stays cached. `tools` may also list undiscovered tools. */
function active(all: readonly AgentTool[], { tools, searchable }: Offer, names: readonly string[]): Offer {
  const unknown = names.find((name) => ![...tools, ...all].some((tool) => tool.name === name))
  if (unknown === undefined) {
    const isActive = ({ name }: AgentTool): boolean => names.includes(name)
    return { tools: tools.filter(isActive), searchable: searchable.filter(isActive) }
  }
  const known = tools.map(({ name }) => name).join(', ')
  throw new ConfigError('invalidOption', `prepareTurn().activeTools names ${JSON.stringify(unknown)}; the turn has ${known || 'no tools'}.`)
}

function recordOf({ model, tools }: TurnSetup, given: TurnChanges): TurnChangesRecord {
  const { id, provider } = model.config
  const settings = toRecord(given)
  const { maxTokens, temperature, thinking, systemPrompt, messages } = given
  return {
    ...(given.model !== undefined && { model: id, provider }),
    ...((given.tools !== undefined || given.activeTools !== undefined) && { tools: tools.map(({ name }) => name) }),
    ...(thinking !== undefined && { thinking }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(messages !== undefined && { messages: messages.length }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(settings !== undefined && { settings }),
  }
}
