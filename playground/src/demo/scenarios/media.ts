import { inTurn, type Scenario } from '../scenario.ts'

/** The script is loaded on demand, because it contains images. */
const answers = () => import('../media-answers.ts')

/** Scenarios about images, files and citations. */
export const mediaScenarios: readonly Scenario[] = [
  {
    name: 'A PDF with page citations',
    prompt: 'What does this handbook say about the ship?',
    files: async () => [(await import('../handbook.ts')).handbook()],
    shows: 'A document, and the pages an answer rests on',
    answer: inTurn(async () => (await answers()).aboutHandbook),
  },
  {
    name: 'Search by the service',
    prompt: 'Where can I see the Fram today?',
    shows: 'A tool of the service, numbered sources',
    answer: inTurn(async () => (await answers()).searched),
  },
  {
    name: 'Picture',
    prompt: 'Draw the Fram in the ice.',
    shows: 'A picture in an answer',
    answer: inTurn(async () => (await answers()).drawnByDay),
  },
  {
    name: 'Edited picture',
    prompt: 'Now the same picture at night.',
    shows: 'The picture, edited in the next turn',
    answer: inTurn(async () => (await answers()).drawnByNight),
  },
]
