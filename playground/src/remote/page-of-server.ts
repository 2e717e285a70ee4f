import { keepKeys, setKey } from '../models/key-vault.ts'
import { defaultSettings, type Settings } from '../settings/settings.ts'
import { serverOwner } from './server-url.ts'

/**
 * The settings of a page that a server shows for its agent alone. The token leaves the address at once, so that no history and no screenshot has it, and is
 * kept in this tab: a cookie would go to every program that listens on this machine.
 */
export function settingsOfServer(endpoint: string): Settings {
  const serverUrl = `${location.origin}${endpoint}`
  const given = new URLSearchParams(location.hash.slice(1))
  const token = given.get('token')
  if (token !== null) {
    keepKeys(true)
    setKey(serverOwner(serverUrl), token)
    history.replaceState(null, '', `${location.pathname}${location.search}#${encodeURIComponent(given.get('session') ?? '')}`)
  }
  return { ...defaultSettings, place: 'server', serverUrl }
}
