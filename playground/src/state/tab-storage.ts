/** Returns the text that this tab stores at `place`; `undefined` if there is none, or the browser has no storage. */
export function textOfTab(place: string): string | undefined {
  try {
    return sessionStorage.getItem(place) ?? undefined
  } catch {
    return undefined
  }
}

/** Keeps `text` at `place` until the tab is closed; `undefined` removes it. A browser without storage keeps nothing. */
export function keepInTab(place: string, text: string | undefined): void {
  try {
    if (text === undefined) sessionStorage.removeItem(place)
    else sessionStorage.setItem(place, text)
  } catch {
    // The page keeps it until a reload.
  }
}
