import type { ClientSettings } from '../../../src/client/index.ts'
import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { checkOptions, clientSettingFields, options as optionsOf, settingsIn } from '../../../src/internal.ts'
import { isObject } from '../access/body.ts'
import { refuse } from '../access/problem.ts'

/** A setting that a server may leave to its clients. */
export type ClientSettingName = keyof ClientSettings

const clientSettings = optionsOf<ClientSettings>(clientSettingFields)

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
