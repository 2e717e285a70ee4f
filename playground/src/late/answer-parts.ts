import { areWordsAlone, firstWords } from './first-words.ts'
import { latePart } from './late-part.ts'

// What an answer may need besides words. It comes behind the first words of one that needs none of it, else as soon as it can.

/** Where conversations of this browser are kept. */
export const keptHere = latePart(async () => {
  if (areWordsAlone()) await firstWords
  return import('../state/backend/kept-here.ts')
})

/** The tools of the demo. */
export const demoTools = latePart(async () => {
  if (areWordsAlone()) await firstWords
  return (await import('../demo/tools.ts')).demoTools
})

/** Has them come beside the agent, not behind it. Who needs them hears where they cannot be had. */
export function loadAnswerParts(): void {
  for (const part of [keptHere, demoTools]) part.load().catch(() => undefined)
}
