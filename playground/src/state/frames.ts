/** Calls `act` at most once per frame. Hidden tabs have no frames, but their agents keep running. */
export function everyFrame(act: () => void): () => void {
  let isAsked = false
  const now = () => {
    isAsked = false
    act()
  }
  return () => {
    if (isAsked) return
    isAsked = true
    if (document.visibilityState === 'hidden') setTimeout(now, 250)
    else requestAnimationFrame(now)
  }
}
