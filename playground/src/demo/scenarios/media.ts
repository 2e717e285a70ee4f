import { inTurn, type Scenario } from '../scenario.ts'

/** Loaded on demand, because the script contains images. */
const answers = () => import('../media-answers.ts')

/** Scenarios about images, files and citations. */
export const mediaScenarios: readonly Scenario[] = [
  {
    name: 'A PDF with page citations',
    prompt: 'What does this handbook say about the ship?',
    files: async () => [(await import('../handbook.ts')).handbook()],
    shows: 'A document with cited pages',
    answer: inTurn(async () => (await answers()).aboutHandbook),
  },
  {
    name: 'Provider search',
    prompt: 'Where can I see the Fram today?',
    shows: 'A provider-executed tool with numbered sources',
    answer: inTurn(async () => (await answers()).searched),
  },
  {
    name: 'Picture',
    prompt: 'Draw the Fram in the ice.',
    shows: 'An image in a response',
    answer: inTurn(async () => (await answers()).drawnByDay),
  },
  {
    name: 'Edited picture',
    prompt: 'Now the same picture at night.',
    shows: 'The image, edited in the next turn',
    answer: inTurn(async () => (await answers()).drawnByNight),
  },
]
