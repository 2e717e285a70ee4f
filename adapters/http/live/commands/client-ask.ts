import { errorText } from '../../../../src/contract/errors.ts'
import type { ClientSettings } from '../../../../src/contract/model/model-config.ts'
import { choiceFields, thinkingLevel } from '../../../../src/contract/model/request-settings.ts'
import { checkOptions } from '../../../../src/contract/shape/read.ts'
import { options as optionsOf } from '../../../../src/contract/shape/shape.ts'
import type { Agent, JsonObject, JsonValue, PromptOptions } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'

/** A setting that a server can allow clients to set. */
export type ClientSettingName = keyof ClientSettings

/** A client's selection from the agent's `choices`. */
type ClientChoice = Pick<PromptOptions, 'model' | 'tools' | 'clientTools' | 'thinking'>
type ClientToolDeclaration = NonNullable<ClientChoice['clientTools']>[number]
const choiceShape = optionsOf<ClientChoice>({ ...choiceFields, thinking: thinkingLevel })

/** A client's options for one run, as plain JSON. The agent decides which are allowed. */
export interface ClientAsk {
  /** Validated settings that clients may set. */
  settings: ClientSettings
  /** Names of the allowed settings. */
  allowed: readonly ClientSettingName[]
  /** Unvalidated choices by name: `model`, `thinking`, `tools`, `clientTools`. */
  choice: JsonObject
  /** Tools that the client declares in its protocol's format. */
  offered: readonly ClientToolDeclaration[]
  responseFormat?: PromptOptions['responseFormat']
  /** Metadata for `agentStart`. */
  metadata?: JsonValue
}

/** Prompt options that clients can set. */
export type AskedOptions = ClientSettings & ClientChoice & Pick<PromptOptions, 'responseFormat' | 'metadata'>

/** Returns the choices of a body. */
export function choiceIn(body: JsonObject): JsonObject {
  const named = (name: string) => name === 'thinking' || Object.hasOwn(choiceFields, name)
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null && named(name)))
}

/**
 * Converts a client's options to prompt options for this agent. The agent rejects names missing from its `choices`. If the application
 * parses the body (`ofApplication`), an agent without `choices` ignores these names. Rejects with 400 `invalidBody` or 403
 * `settingNotAllowed`.
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

/** Rejects a setting that clients must not set with 403. */
export function refuseSetting(name: string, allowed: readonly ClientSettingName[]): never {
  const may = allowed.length === 0 ? 'no settings' : allowed.join(', ')
  const detail = `settings.${name.slice(0, 60)} cannot be set by clients. They can set ${may}: see clientSettings of createAgentApp.`
  refuse(403, 'settingNotAllowed', detail)
}
