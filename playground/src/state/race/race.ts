import { signal } from '@preact/signals'
import type { AgentEvent } from '../../../../src/index.ts'
import { initialState, type RunState, reduce } from '../../../../src/store.ts'
import { marked, type RaceMarks } from './race-marks.ts'

/** One prompt for several configurations. */
export interface Race {
  prompt: string
  isRunning: boolean
  /** Loop ids in the order of the configurations. */
  loopIds: readonly string[]
  /** State for each branch and the judge, by loop. */
  runs: Readonly<Record<string, RunState>>
  marks: Readonly<Record<string, RaceMarks | undefined>>
  selectedLoopId?: string
  /** The judge's text. */
  verdict?: string
}

/** Runs a prompt in several configurations. Resolves with the selected loop. */
export type RunRace = (prompt: string, emit: (event: AgentEvent) => void, signal: AbortSignal) => Promise<string>

/** Creates a race signal. `accept` processes its events. */
export function createRace(prompt: string) {
  const race = signal<Race>({ prompt, isRunning: true, loopIds: [], runs: {}, marks: {} })
  let next = race.value

  function accept(event: AgentEvent): void {
    if (event.type === 'parallelLoopStart') next = { ...next, loopIds: event.loopIds }
    else if (event.type === 'parallelLoopEnd') {
      const { selectedLoopId, reason } = event
      next = { ...next, isRunning: false, selectedLoopId, ...(reason !== undefined && { verdict: reason }) }
    } else {
      const run = reduce(next.runs[event.loopId] ?? initialState(), event)
      const marks = { ...next.marks, [event.loopId]: marked(next.marks[event.loopId], event) }
      next = { ...next, runs: { ...next.runs, [event.loopId]: run }, marks }
    }
  }

  const publish = () => {
    race.value = next
  }
  const end = () => {
    next = { ...next, isRunning: false }
    publish()
  }
  return { race, accept, publish, end }
}
