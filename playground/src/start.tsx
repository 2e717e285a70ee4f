import { render } from 'preact'
import { App } from './app.tsx'
import { play } from './demo/play.ts'
import type { EarlyInput } from './early-input.ts'
import { openBackend } from './settings/placed-backend.ts'
import { createDesk } from './state/desk.ts'

/** Shows the page in `root`, once its conversations are open, and does what was asked for before. */
export async function start(root: HTMLElement, early: EarlyInput): Promise<void> {
  const desk = await createDesk(openBackend)
  await early.released()
  early.end()
  render(<App desk={desk} dialog={early.wantsCommands ? 'palette' : undefined} />, root)
  if (early.picked !== undefined) play(desk, desk.current.value, early.picked)
}
