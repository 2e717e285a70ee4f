import { serverOwner } from './server-url.ts'

const place = 'phi-playground-link'

let token = readKept()

/** The token of the link that opened this page, for requests to the server that serves the page. It is no key of the visitor: the page works only with it. */
export function linkTokenFor(url: string): string | undefined {
  return serverOwner(url) === serverOwner(location.origin) ? token : undefined
}

/** Keeps the token until the tab is closed: a cookie would go to every program that listens on this machine. */
export function keepLinkToken(given: string): void {
  token = given
  try {
    sessionStorage.setItem(place, given)
  } catch {
    // A browser without storage keeps it until the next reload.
  }
}

function readKept(): string | undefined {
  try {
    return sessionStorage.getItem(place) ?? undefined
  } catch {
    return undefined
  }
}
