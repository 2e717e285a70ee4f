import type { ClientSettings } from '../../../src/contract/model/model-config.ts'
import type { CallerRequest } from '../../../src/internal.ts'
import type { ReadRequest } from '../../../src/ui/openai.ts'
import type { ClientSettingName } from '../live/commands/client-ask.ts'
import { settingsFrom } from '../routes/client-settings.ts'
import { refuseCaller } from './openai-error.ts'

/** Returns the parsed request, or throws a rejection. */
export function accepted<T>({ value, fault }: ReadRequest<T>): T {
  return value ?? refuseCaller(fault ?? { message: 'The request is invalid.' })
}

/** Returns the caller's settings. Rejects settings that are not in `allowed` or are invalid, by name. */
export function callerSettings({ settings }: CallerRequest, allowed: readonly ClientSettingName[]): ClientSettings {
  // Send `user` to the provider if callers are allowed to set it. Otherwise, ignore it.
  const refused = settings.find(({ name }) => !allowed.includes(name))
  if (refused !== undefined) {
    const { param, name } = refused
    const message = `Unsupported parameter: callers may not set '${param}'. To allow it, set clientSettings: ['${name}'] on the server.`
    refuseCaller({ message, param, code: 'unsupported_parameter' })
  }
  return settingsFrom(Object.fromEntries(settings.map(({ name, value }) => [name, value])), allowed)
}
