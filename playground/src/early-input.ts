import type { Scenario } from './demo/scenario.ts'
import { isCommandKey } from './palette/command-key.ts'

/** User input while the agent is still loading. None of it is lost. */
export interface EarlyInput {
  /** The selected scenario. */
  picked: Scenario | undefined
  /** Whether the user opened the command palette. */
  wantsCommands: boolean
  /** Resolves when no pointer button is pressed, because the target of a click must not move. */
  released(): Promise<void>
  /** Stops listening. */
  end(): void
}

/** Records input until `end` is called. */
export function watchEarlyInput(): EarlyInput {
  const listening = new AbortController()
  const { signal } = listening
  const pointers = new Set<number>()
  let onReleased = (): void => {}
  const release = ({ pointerId }: PointerEvent): void => {
    pointers.delete(pointerId)
    if (pointers.size === 0) setTimeout(onReleased) // the click follows its `pointerup`
  }
  const input: EarlyInput = {
    picked: undefined,
    wantsCommands: false,
    released: () =>
      new Promise((resolve) => {
        onReleased = resolve
        if (pointers.size === 0) resolve()
      }),
    end: () => listening.abort(),
  }
  addEventListener('pointerdown', ({ pointerId }) => pointers.add(pointerId), { signal, capture: true })
  addEventListener('pointerup', release, { signal, capture: true })
  addEventListener('pointercancel', release, { signal, capture: true })
  addEventListener(
    'keydown',
    (event) => {
      if (!isCommandKey(event)) return
      event.preventDefault()
      input.wantsCommands = true
    },
    { signal },
  )
  return input
}
