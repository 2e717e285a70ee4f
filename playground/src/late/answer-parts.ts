import { areWordsAlone, firstWords } from './first-words.ts'
import { latePart } from './late-part.ts'

// Parts that a response may need in addition to text. Loaded after the first words of a text-only response, or otherwise as soon as
// possible.

/** Conversation storage in this browser. */
export const keptHere = latePart(async () => {
  if (areWordsAlone()) await firstWords
  return import('../state/backend/kept-here.ts')
})

/** The demo's tools. */
export const demoTools = latePart(async () => {
  if (areWordsAlone()) await firstWords
  return (await import('../demo/tools.ts')).demoTools
})

/** Loads them in parallel with the agent. Failures are reported where the parts are needed. */
export function loadAnswerParts(): void {
  for (const part of [keptHere, demoTools]) part.load().catch(() => undefined)
}
