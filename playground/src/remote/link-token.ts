import { keepInTab, textOfTab } from '../state/tab-storage.ts'
import { serverOwner } from './server-url.ts'

const place = 'phi-playground-link'

let token = textOfTab(place)

/** The token of the link that opened this page, for requests to the server that serves the page. It is no key of the visitor: the page works only with it. */
export function linkTokenFor(url: string): string | undefined {
  return serverOwner(url) === serverOwner(location.origin) ? token : undefined
}

/** Keeps the token until the tab is closed: a cookie would go to every program that listens on this machine. */
export function keepLinkToken(given: string): void {
  token = given
  keepInTab(place, given)
}
