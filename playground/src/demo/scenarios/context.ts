import { archive } from '../files.ts'
import { inTurn, type Scenario } from '../scenario.ts'

const months = Object.keys(archive)

/** Scenarios about the context: compaction, prune, revert and context size. */
export const contextScenarios: readonly Scenario[] = [
  {
    name: 'Compaction',
    prompt: 'Read the archive of the first winter and tell me what mattered.',
    shows: 'Older turns are summarized',
    answer(turn) {
      const path = months[turn]
      if (path !== undefined) return { text: `Reading ${path}.`, toolCalls: [{ name: 'read_file', arguments: { path } }], chunkSize: 24 }
      if (turn > months.length) return undefined
      return {
        text: 'Three things mattered that winter:\n\n1. The ice pressed from **October** on, and the ship rose.\n2. The soundings found no bottom.\n3. The drift turned north-west in **January**.\n\nBy then, I received a summary of what I read first: open the divider above, or compare two requests in the inspector.',
      }
    },
  },
  {
    name: 'Pruning',
    prompt: 'Are there any warnings in the log of the engine?',
    shows: 'The model removes what it has read',
    answer: inTurn(
      () => ({ text: 'That log is long. I will read it once.', toolCalls: [{ name: 'read_file', arguments: { path: 'engine.log' } }] }),
      () => ({
        thinking: 'Eighty lines, one of them matters. Nothing else needs to be sent again with every turn.',
        toolCalls: [
          {
            name: 'prun_with_memo',
            arguments: { tokens: 600, memo: 'engine.log: 80 lines, one warning: bearing 2 ran hot on Tuesday at 14:20.' },
          },
        ],
      }),
      () => ({ text: 'One: **bearing 2 ran hot** on Tuesday at 14:20. The other 79 lines are routine, and are not sent any more.' }),
    ),
  },
  {
    name: 'Revert',
    prompt: 'Find out where the depot is.',
    shows: 'The model reverts and keeps what it learned',
    answer: inTurn(
      () => ({ text: 'Perhaps the crew list says it.', toolCalls: [{ name: 'read_file', arguments: { path: 'crew.txt' } }] }),
      () => ({
        thinking: 'That led nowhere. I go back to the question, and remember only that.',
        toolCalls: [
          { name: 'revert_to_state', arguments: { category: 'failure', step: '{asked}', summary: 'crew.txt says nothing of the depot.' } },
        ],
      }),
      () => ({ text: 'Another way: a search.', toolCalls: [{ name: 'search', arguments: { pattern: 'depot' } }] }),
      (results) => ({ text: `Found it:\n\n> ${depotIn(results)}` }),
    ),
  },
  {
    name: '500 turns',
    prompt: 'Take the position 500 times.',
    shows: 'A long run with compaction',
    answer(turn) {
      if (turn > 500) return undefined
      if (turn === 500) return { text: 'Those were 500 positions. The inspector shows the complete run.' }
      return {
        text: `Position ${turn + 1} of 500.`,
        toolCalls: [{ name: 'take_position', arguments: { number: turn + 1 } }],
        delayMs: 0,
        chunkSize: 64,
      }
    },
  },
]

function depotIn(results: readonly string[]): string {
  return results.flatMap((text) => text.match(/The depot.*$/m) ?? []).at(-1) ?? 'nothing'
}
