import { type ReadonlySignal, signal } from '@preact/signals'
import { everyFrame } from '../frames.ts'
import type { EventLog } from '../log/event-log.ts'
import { createRace, type Race, type RunRace } from './race.ts'

/** The current race, if any. */
export interface RaceRunner {
  race: ReadonlySignal<Race | undefined>
  /** Resolves with the selected loop, or `undefined` if the user stopped the race. */
  start(prompt: string, run: RunRace): Promise<string | undefined>
  abort(): void
}

export function createRaceRunner(log: EventLog): RaceRunner {
  const race = signal<Race | undefined>(undefined)
  let racing: AbortController | undefined
  return {
    race,
    abort: () => racing?.abort(),
    async start(prompt, run) {
      racing = new AbortController()
      const stopped = racing.signal
      const { race: ofNow, accept, publish, end } = createRace(prompt)
      const leave = ofNow.subscribe((value) => {
        race.value = value
      })
      const show = everyFrame(() => {
        publish()
        log.publish()
      })
      try {
        return await run(
          prompt,
          (event) => {
            log.add(event)
            accept(event)
            show()
          },
          stopped,
        )
      } catch (error) {
        if (stopped.aborted) return undefined
        throw error
      } finally {
        end()
        leave()
      }
    },
  }
}
