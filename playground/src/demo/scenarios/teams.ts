import { inTurn, type Scenario } from '../scenario.ts'

/** Scenarios with more than one agent. */
export const teamScenarios: readonly Scenario[] = [
  {
    name: 'Sub-agent',
    prompt: 'Have the naturalist count our walruses.',
    shows: 'An agent inside a call',
    answer: inTurn(
      () => ({
        text: 'The naturalist will count them.',
        toolCalls: [{ name: 'naturalist', arguments: { task: 'Count the walruses that the logbook mentions, day by day.' } }],
      }),
      ([report = '']) => ({ text: `The naturalist reports:\n\n> ${report}` }),
    ),
  },
  {
    name: 'Parallel with judge',
    prompt: 'Sum up the week in one sentence.',
    shows: 'Three responses, one verdict',
    isRace: true,
    answer: () => undefined,
  },
]
