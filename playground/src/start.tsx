import { render } from 'preact'
import { App } from './app.tsx'
import { play } from './demo/play.ts'
import type { Scenario } from './demo/scenario.ts'
import { openBackend } from './settings/placed-backend.ts'
import { createDesk } from './state/desk.ts'

/** Shows the page in `root`, once its conversations are open, and plays what was picked before. */
export async function start(root: HTMLElement, picked: () => Scenario | undefined): Promise<void> {
  const desk = await createDesk(openBackend)
  render(<App desk={desk} />, root)
  const scenario = picked()
  if (scenario !== undefined) play(desk, desk.current.value, scenario)
}
