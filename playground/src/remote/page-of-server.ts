import { defaultSettings, type Settings } from '../settings/settings.ts'
import { keepLinkToken } from './link-token.ts'

/**
 * The settings of a page that a server shows for its agent alone. The token leaves the address at once, so that no history and no screenshot has it.
 */
export function settingsOfServer(endpoint: string): Settings {
  const serverUrl = `${location.origin}${endpoint}`
  const given = new URLSearchParams(location.hash.slice(1))
  const token = given.get('token')
  if (token !== null) {
    keepLinkToken(token)
    history.replaceState(null, '', `${location.pathname}${location.search}#${encodeURIComponent(given.get('session') ?? '')}`)
  }
  return { ...defaultSettings, place: 'server', serverUrl }
}
