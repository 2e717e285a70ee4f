import { errorText } from '../../../../src/contract/errors.ts'
import type { ClientSettings } from '../../../../src/contract/model/model-config.ts'
import { choiceFields, thinkingLevel } from '../../../../src/contract/model/request-settings.ts'
import { checkOptions } from '../../../../src/contract/shape/read.ts'
import { options as optionsOf } from '../../../../src/contract/shape/shape.ts'
import type { Agent, JsonObject, JsonValue, PromptOptions } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'

/** A setting that a server may leave to its clients. */
export type ClientSettingName = keyof ClientSettings

/** What a client chooses of what the agent's `choices` list. */
type ClientChoice = Pick<PromptOptions, 'model' | 'tools' | 'clientTools' | 'thinking'>
type ClientToolDeclaration = NonNullable<ClientChoice['clientTools']>[number]
const choiceShape = optionsOf<ClientChoice>({ ...choiceFields, thinking: thinkingLevel })

/** What a client asks of one run besides what it says, as plain JSON. The agent that is asked says what becomes of it. */
export interface ClientAsk {
  /** Those that the server leaves to its clients, checked. */
  settings: ClientSettings
  /** The names of these. */
  allowed: readonly ClientSettingName[]
  /** What it may choose by name, as it came: `model`, `thinking`, `tools`, `clientTools`. */
  choice: JsonObject
  /** Tools that it brings along in a way of its protocol. */
  offered: readonly ClientToolDeclaration[]
  responseFormat?: PromptOptions['responseFormat']
  /** What it wants to find in `agentStart`. */
  metadata?: JsonValue
}

/** The options of a prompt that clients have a say in. */
export type AskedOptions = ClientSettings & ClientChoice & Pick<PromptOptions, 'responseFormat' | 'metadata'>

/** What a body chooses by name. */
export function choiceIn(body: JsonObject): JsonObject {
  const named = (name: string) => name === 'thinking' || Object.hasOwn(choiceFields, name)
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null && named(name)))
}

/**
 * What a client asks, as options of a prompt of this agent, whose `choices` refuse what they do not list. Where the application reads the body itself
 * (`ofApplication`), an agent without `choices` leaves these names to it. Refuses with 400 `invalidBody`, 403 `settingNotAllowed`.
 */
export function askedOf(ask: ClientAsk, agent: Agent, unlisted: 'refused' | 'ofApplication' = 'refused'): AskedOptions {
  const { settings, allowed, offered, responseFormat, metadata } = ask
  const { choices } = agent.settings
  const choice = choices === undefined && unlisted === 'ofApplication' ? {} : checkedChoice(ask.choice)
  const { thinking = choice.thinking } = settings
  const mayThink = allowed.includes('thinking') || choices?.thinking !== undefined
  if (choice.thinking !== undefined && !mayThink) refuseSetting('thinking', allowed)
  return {
    ...settings,
    ...choice,
    ...(offered.length > 0 && { clientTools: offered }),
    ...(thinking !== undefined && { thinking }),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(metadata !== undefined && { metadata }),
  }
}

function checkedChoice(choice: JsonObject): ClientChoice {
  try {
    checkOptions(choice, choiceShape, 'body')
  } catch (error) {
    refuse(400, 'invalidBody', errorText(error))
  }
  return choice
}

/** Refuses with 403 a setting that is not for clients. */
export function refuseSetting(name: string, allowed: readonly ClientSettingName[]): never {
  const may = allowed.length === 0 ? 'no settings' : allowed.join(', ')
  const detail = `settings.${name.slice(0, 60)} is not for clients to set. This server lets them set ${may}: see clientSettings of createAgentApp.`
  refuse(403, 'settingNotAllowed', detail)
}
