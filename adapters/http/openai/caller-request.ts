import type { ClientSettings } from '../../../src/contract/model/model-config.ts'
import type { CallerRequest } from '../../../src/internal.ts'
import type { ReadRequest } from '../../../src/ui/openai.ts'
import type { ClientSettingName } from '../live/commands/client-ask.ts'
import { settingsFrom } from '../routes/client-settings.ts'
import { refuseCaller } from './openai-error.ts'

/** Returns the parsed request, or refuses. */
export function accepted<T>({ value, fault }: ReadRequest<T>): T {
  return value ?? refuseCaller(fault ?? { message: 'The request cannot be read.' })
}

/** Returns the caller's settings. Refuses by name what is not in `allowed`, and what cannot work. */
export function callerSettings({ settings }: CallerRequest, allowed: readonly ClientSettingName[]): ClientSettings {
  // `user` goes to the provider if callers may set it, and nowhere otherwise.
  const refused = settings.find(({ name }) => !allowed.includes(name))
  if (refused !== undefined) {
    const { param, name } = refused
    const message = `Unsupported parameter: '${param}' is not for callers to set. The server can allow it: clientSettings: ['${name}'].`
    refuseCaller({ message, param, code: 'unsupported_parameter' })
  }
  return settingsFrom(Object.fromEntries(settings.map(({ name, value }) => [name, value])), allowed)
}
