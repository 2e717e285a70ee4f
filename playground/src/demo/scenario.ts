import type { FileContent } from '../../../src/index.ts'
import type { ScriptedStep } from '../../../testing/index.ts'

/** What the scripted model plays after one prompt. The tools it calls are real, and so is what its answers quote. */
export interface Scenario {
  name: string
  prompt: string
  /** What is sent with it. */
  files?: () => Promise<readonly FileContent[]>
  /** What is to be seen, in a few words. */
  shows: string
  /** Its answer is made of words alone: what stores it, and what else an answer may be made of, can come behind the first of them. */
  isWords?: true
  /** Answered by several configurations at once, of which a judge chooses. */
  isRace?: true
  /** The answer of each turn, counted from 0; it may look at the texts of the tool results so far. `undefined`: there is no more. */
  answer(turn: number, results: readonly string[]): Step | Promise<Step>
}

type Step = ScriptedStep | undefined
type Answer = (results: readonly string[]) => ScriptedStep | Promise<ScriptedStep>

/** Answers in their order. */
export function inTurn(...answers: readonly Answer[]): Scenario['answer'] {
  return (turn, results) => answers[turn]?.(results)
}
