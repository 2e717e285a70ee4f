import type { FileContent } from '../../../src/index.ts'
import type { ScriptedStep } from '../../../testing/index.ts'

/** A script for one prompt. Its tools are real, and so are the quotes in its responses. */
export interface Scenario {
  name: string
  prompt: string
  /** Attached files. */
  files?: () => Promise<readonly FileContent[]>
  /** A short description. */
  shows: string
  /** The response is only text, so storage and other parts can load after its first words. */
  isWords?: true
  /** Several configurations respond at the same time, and a judge selects one response. */
  isRace?: true
  /** Returns the response for each turn, starting from 0, given the tool results' texts. `undefined` ends the scenario. */
  answer(turn: number, results: readonly string[]): Step | Promise<Step>
}

type Step = ScriptedStep | undefined
type Answer = (results: readonly string[]) => ScriptedStep | Promise<ScriptedStep>

/** Returns the responses in order. */
export function inTurn(...answers: readonly Answer[]): Scenario['answer'] {
  return (turn, results) => answers[turn]?.(results)
}
