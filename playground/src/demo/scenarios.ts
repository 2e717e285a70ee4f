import { type Message, textOf } from '../../../src/index.ts'
import type { ScriptedStep } from '../../../src/providers/scripted/index.ts'

/** What the scripted model plays after one prompt. */
export interface Scenario {
  name: string
  prompt: string
  /** The answers, in order; each may look at the texts of the tool results so far. */
  answers: readonly ((results: readonly string[]) => ScriptedStep)[]
}

/** The scenarios of the playground. The tools they call are real, and so is what the answers quote. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'Text',
    prompt: 'Tell me about the ship Fram.',
    answers: [
      () => ({
        text:
          'The Fram was built to be caught. Her hull is round and smooth, so that ice which would crush another ship lifts this one out of ' +
          'the water instead.\n\nFrom 1893 to 1896 she drifted across the Arctic Ocean, frozen in, for almost three years. Later she ' +
          'carried Sverdrup to the Canadian Arctic and Amundsen to the edge of Antarctica. No wooden ship has sailed farther north or farther ' +
          'south.\n\nShe stands in Oslo today, and you can walk her deck.',
        usage: { input: 412, output: 96 },
      }),
    ],
  },
  {
    name: 'Thinking and tools',
    prompt: 'Which day was the coldest, and how far did we drift?',
    answers: [
      () => ({
        thinking:
          'The logbook should have a temperature for each day. I will search for all of them at once, and measure the drift meanwhile.',
        text: 'I will look into the logbook and take bearings.',
        toolCalls: [
          { name: 'search', arguments: { pattern: 'Temperature' } },
          { name: 'measure_drift', arguments: { bearings: 5 } },
        ],
        usage: { input: 655, output: 88, reasoning: 31 },
      }),
      ([found = '', drift = '']) => ({
        thinking: 'Now I only have to compare the numbers.',
        text: `The coldest entry is ${coldest(found)}.\n\n${drift}`,
        usage: { input: 214, cacheRead: 655, output: 47, reasoning: 9 },
      }),
    ],
  },
  {
    name: 'Failure and retry',
    prompt: 'Read thursday.md to me.',
    answers: [
      () => ({ fail: { code: 'rateLimited', message: 'Too many requests (429).', status: 429, retryAfterMs: 2500 } }),
      () => ({
        text: 'That took two tries. Reading the file.',
        toolCalls: [{ name: 'read_file', arguments: { path: 'log/thursday.md' } }],
        usage: { input: 498, output: 41 },
      }),
      () => ({
        text: 'There is no such file; the tool said so instead of stopping me. I will see what there is.',
        toolCalls: [{ name: 'list_files', arguments: { path: 'log' } }],
        usage: { input: 77, cacheRead: 498, output: 44 },
      }),
      ([, listing = '']) => ({
        text: `Thursday has not been written yet. The log has ${listing.match(/\w+\.md/g)?.length ?? 0} days so far.`,
        usage: { input: 69, cacheRead: 575, output: 24 },
      }),
    ],
  },
  {
    name: 'Approval',
    prompt: 'Add an entry for Thursday.',
    answers: [
      () => ({
        text: 'Writing changes your files, so I ask first.',
        toolCalls: [
          {
            name: 'write_file',
            arguments: { path: 'log/thursday.md', content: 'Wind: east, force 3\nTemperature: -9\nUnder way again.\n' },
          },
        ],
        usage: { input: 531, output: 74 },
      }),
      ([outcome = '']) => ({ text: `The tool answered: ${outcome}`, usage: { input: 98, cacheRead: 531, output: 22 } }),
    ],
  },
  {
    name: 'Input filter',
    prompt: 'Note that the password of the safe is walrus.',
    answers: [],
  },
]

/** The lowest temperature in search results, with its file. */
function coldest(found: string): string {
  const entries = [...found.matchAll(/(\w+)\.md\D*?\d*\D*?Temperature: (-?\d+)/g)].map((match) => ({
    day: match[1] ?? '',
    degrees: Number(match[2]),
  }))
  const [lowest] = entries.sort((a, b) => a.degrees - b.degrees)
  if (lowest === undefined) return 'not in the search results'
  return `${lowest.day.charAt(0).toUpperCase()}${lowest.day.slice(1)} with ${lowest.degrees} °C`
}

/** Where a conversation is in a scenario. */
export interface ScenarioPlace {
  scenario: Scenario
  prompt: Message
  /** Texts of the tool results since the prompt. */
  results: string[]
  /** Answers since the prompt; failures leave none. */
  answered: number
}

/** The scenario a conversation is in; `undefined` when a person wrote freely. */
export function currentScenario(messages: readonly Message[]): ScenarioPlace | undefined {
  const last = messages.at(-1)
  const index = messages.findLastIndex((message) => message.role === 'user')
  const prompt = messages[index]
  if (last === undefined || prompt === undefined) return undefined
  const said = textOf(prompt.content)
  const scenario = scenarios.find((one) => one.prompt === said)
  if (scenario === undefined) return undefined
  const since = messages.slice(index)
  const results = since.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
  const answered = since.filter((message) => message.role === 'assistant' && message.stopReason === 'toolUse').length
  return { scenario, prompt, results, answered }
}

/** Which of the scenario's answers comes next, counting the failures before it. */
export function answerAfter({ scenario, results, answered }: ScenarioPlace): number {
  let seen = 0
  const next = scenario.answers.findIndex((answer) => {
    if ('fail' in answer(results)) return false
    seen++
    return seen > answered
  })
  return answered === 0 ? 0 : next
}
