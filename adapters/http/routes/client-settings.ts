import type { ClientSettings } from '../../../src/client/index.ts'
import type { Agent, JsonObject, JsonValue, PromptOptions } from '../../../src/index.ts'
import { checkOptions, choiceFields, clientSettingFields, options as optionsOf, settingsIn, thinkingLevel } from '../../../src/internal.ts'
import { isObject } from '../access/body.ts'
import { refuse } from '../access/problem.ts'

/** A setting that a server may leave to its clients. */
export type ClientSettingName = keyof ClientSettings

const clientSettings = optionsOf<ClientSettings>(clientSettingFields)

/** What a client chooses of what the agent's `choices` list. */
type ClientChoice = Pick<PromptOptions, 'model' | 'tools' | 'clientTools' | 'thinking'>
type ClientToolDeclaration = NonNullable<ClientChoice['clientTools']>[number]
const choiceShape = optionsOf<ClientChoice>({ ...choiceFields, thinking: thinkingLevel })

/**
 * What a client asks of one run: `settings`, and by name `model`, `thinking`, `tools` and `clientTools`. It is settled with the agent that is asked, whose `choices`
 * refuse what they do not list. Where the application reads the body itself (`ofApplication`), an agent without `choices` leaves these names to it. `offered` are tools that it brings along in a way of its protocol. Refuses with 400 `invalidBody`, 403 `settingNotAllowed`.
 */
export function askedIn(
  body: JsonObject,
  allowed: readonly ClientSettingName[],
  offered: readonly ClientToolDeclaration[] = [],
): (agent: Agent, unlisted?: 'refused' | 'ofApplication') => ClientSettings & ClientChoice {
  const settings = settingsFrom(body.settings, allowed)
  return ({ settings: { choices } }, unlisted = 'refused') => {
    const choice = choices === undefined && unlisted === 'ofApplication' ? {} : choiceIn(body)
    const { thinking = choice.thinking } = settings
    const mayThink = allowed.includes('thinking') || choices?.thinking !== undefined
    if (choice.thinking !== undefined && !mayThink) refuse(403, 'settingNotAllowed', notAllowed('thinking', allowed))
    return { ...settings, ...choice, ...(offered.length > 0 && { clientTools: offered }), ...(thinking !== undefined && { thinking }) }
  }
}

function choiceIn(body: JsonObject): ClientChoice {
  const given = Object.entries(body).filter(([name, value]) => value !== null && (name === 'thinking' || Object.hasOwn(choiceFields, name)))
  const choice = Object.fromEntries(given)
  try {
    checkOptions(choice, choiceShape, 'body')
  } catch (error) {
    refuse(400, 'invalidBody', error instanceof Error ? error.message : String(error))
  }
  return choice
}

/**
 * The settings that a client asks for in `settings` of a body, for `prompt`. Refuses with 403 `settingNotAllowed` what is not in `allowed`, and with 400
 * `invalidBody` what cannot work.
 */
export function settingsFrom(settings: JsonValue | undefined, allowed: readonly ClientSettingName[]): ClientSettings {
  if (settings === undefined) return {}
  if (!isObject(settings)) refuse(400, 'invalidBody', 'settings must be an object, such as { "thinking": "high" }.')
  const other = Object.keys(settings).find((name) => !allowed.some((each) => each === name))
  if (other !== undefined) refuse(403, 'settingNotAllowed', notAllowed(other, allowed))
  return checked(settings)
}

function notAllowed(name: string, allowed: readonly ClientSettingName[]): string {
  const may = allowed.length === 0 ? 'no settings' : allowed.join(', ')
  return `settings.${name.slice(0, 60)} is not for clients to set. This server lets them set ${may}: see clientSettings of createAgentApp.`
}

function checked(settings: JsonObject): ClientSettings {
  try {
    checkOptions(settings, clientSettings, 'settings')
  } catch (error) {
    refuse(400, 'invalidBody', error instanceof Error ? error.message : String(error))
  }
  const { thinking } = settings as ClientSettings // just checked
  return { ...settingsIn(settings as ClientSettings), ...(thinking !== undefined && { thinking }) }
}
