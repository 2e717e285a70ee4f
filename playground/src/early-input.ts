import type { Scenario } from './demo/scenario.ts'
import { isCommandKey } from './palette/command-key.ts'

/** What a visitor does while the agent is still on its way. None of it is lost. */
export interface EarlyInput {
  /** The scenario that was picked. */
  picked: Scenario | undefined
  /** Whether the commands were asked for. */
  wantsCommands: boolean
  /** Resolves when no button is held down: what is under a click that is on its way must not move. */
  released(): Promise<void>
  /** Stops listening. */
  end(): void
}

/** Listens until `end`. */
export function watchEarlyInput(): EarlyInput {
  const listening = new AbortController()
  const { signal } = listening
  const pointers = new Set<number>()
  let onReleased = (): void => {}
  const release = ({ pointerId }: PointerEvent): void => {
    pointers.delete(pointerId)
    if (pointers.size === 0) setTimeout(onReleased) // the click comes behind its `pointerup`
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
