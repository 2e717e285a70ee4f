import { defaultSettings, type Settings } from '../settings/settings.ts'
import { keepLinkToken } from './link-token.ts'

/**
 * Returns the settings for a page that a server hosts for its agent. The token is removed from the URL immediately, so that it appears in
 * no history and no screenshot.
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
