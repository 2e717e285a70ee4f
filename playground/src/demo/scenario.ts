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
  /** The response is only text: storage and other parts can load after its first words. */
  isWords?: true
  /** Answered by several configurations at once, of which a judge chooses. */
  isRace?: true
  /** Returns the response of each turn, from 0, given the texts of the tool results. `undefined`: no more. */
  answer(turn: number, results: readonly string[]): Step | Promise<Step>
}

type Step = ScriptedStep | undefined
type Answer = (results: readonly string[]) => ScriptedStep | Promise<ScriptedStep>

/** Responses in order. */
export function inTurn(...answers: readonly Answer[]): Scenario['answer'] {
  return (turn, results) => answers[turn]?.(results)
}
