import { keepInTab, textOfTab } from '../state/tab-storage.ts'
import { serverOwner } from './server-url.ts'

const place = 'phi-playground-link'

let token = textOfTab(place)

/**
 * The token from the link that opened this page, for requests to the server that serves the page. It is not one of the user's keys, and the
 * page works only with it.
 */
export function linkTokenFor(url: string): string | undefined {
  return serverOwner(url) === serverOwner(location.origin) ? token : undefined
}

/** Stores the token until the tab is closed. A cookie would be sent to every program that listens on this machine. */
export function keepLinkToken(given: string): void {
  token = given
  keepInTab(place, given)
}
