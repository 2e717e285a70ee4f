/** Returns the text that this tab stores under `place`, or `undefined` if there is none or the browser has no storage. */
export function textOfTab(place: string): string | undefined {
  try {
    return sessionStorage.getItem(place) ?? undefined
  } catch {
    return undefined
  }
}

/** Stores `text` under `place` until the tab is closed. `undefined` removes it. A browser without storage stores nothing. */
export function keepInTab(place: string, text: string | undefined): void {
  try {
    if (text === undefined) sessionStorage.removeItem(place)
    else sessionStorage.setItem(place, text)
  } catch {
    // The page keeps the text in memory until a reload.
  }
}
