import { errorText } from '../../../src/contract/errors.ts'
import { isJsonObject } from '../../../src/contract/json.ts'
import type { ClientSettings } from '../../../src/contract/model/model-config.ts'
import { clientSettingFields } from '../../../src/contract/model/model-config.ts'
import { settingsIn } from '../../../src/contract/model/request-settings.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { options as optionsOf } from '../../../src/contract/shape/shape.ts'
import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { refuse } from '../access/problem.ts'
import { type ClientAsk, type ClientSettingName, choiceIn, refuseSetting } from '../live/commands/client-ask.ts'

const clientSettings = optionsOf<ClientSettings>(clientSettingFields)

/**
 * Returns a client's options for one run: `settings`, and `model`, `thinking`, `tools` and `clientTools` by name. `offered` contains tools
 * in the protocol's format. Rejects with 400 `invalidBody` or 403 `settingNotAllowed`; the agent validates the rest.
 */
export function askedIn(body: JsonObject, allowed: readonly ClientSettingName[], offered: ClientAsk['offered'] = []): ClientAsk {
  return { settings: settingsFrom(body.settings, allowed), allowed, choice: choiceIn(body), offered }
}

/**
 * Returns a body's `settings`, for `prompt`. Rejects settings that are not in `allowed` with 403 `settingNotAllowed`, and invalid settings
 * with 400 `invalidBody`.
 */
export function settingsFrom(settings: JsonValue | undefined, allowed: readonly ClientSettingName[]): ClientSettings {
  if (settings === undefined) return {}
  if (!isJsonObject(settings)) refuse(400, 'invalidBody', 'settings must be an object, such as { "thinking": "high" }.')
  const other = Object.keys(settings).find((name) => !allowed.some((each) => each === name))
  if (other !== undefined) refuseSetting(other, allowed)
  return checked(settings)
}

function checked(settings: JsonObject): ClientSettings {
  try {
    checkOptions(settings, clientSettings, 'settings')
  } catch (error) {
    refuse(400, 'invalidBody', errorText(error))
  }
  const { thinking } = settings as ClientSettings // just checked
  return { ...settingsIn(settings as ClientSettings), ...(thinking !== undefined && { thinking }) }
}
