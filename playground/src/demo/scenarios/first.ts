import { inTurn, type Scenario } from '../scenario.ts'

const fram = `The **Fram** was built to be caught. Her hull is round and smooth, so that ice which would crush another ship lifts this one out of the water instead.

| Voyage | Years | Leader |
|---|---|---|
| Arctic drift | 1893–1896 | Nansen |
| Canadian Arctic | 1898–1902 | Sverdrup |
| Antarctica | 1910–1912 | Amundsen |

No wooden ship has sailed farther north or farther south. The idea in one line of code:

\`\`\`ts
const rises = (hull: { round: boolean }, ice: number) => (hull.round ? ice * 0.6 : 0)
\`\`\`

She stands in Oslo today, and you can walk her deck.`

/** Scenarios about the parts that a response can have: text, thinking, tools and failures. */
export const firstScenarios: readonly Scenario[] = [
  {
    name: 'Text',
    prompt: 'Tell me about the ship Fram.',
    shows: 'Markdown while it streams',
    isWords: true,
    answer: inTurn(() => ({ text: fram })),
  },
  {
    name: 'Thinking and tools',
    prompt: 'Which day was the coldest, and how far did we drift?',
    shows: 'Thinking, two parallel tools, data',
    answer: inTurn(
      () => ({
        thinking:
          'The logbook should have a temperature for each day. I will search for all of them at once, and measure the drift meanwhile.',
        text: 'I will look into the logbook and take bearings.',
        toolCalls: [
          { name: 'search', arguments: { pattern: 'Temperature', path: 'log' } },
          { name: 'measure_drift', arguments: { bearings: 5 } },
        ],
      }),
      ([found = '', drift = '']) => ({
        thinking: 'Now I only have to compare the numbers.',
        text: `The coldest entry is **${coldest(found)}**.\n\n${drift}`,
      }),
    ),
  },
  {
    name: 'Failure and retry',
    prompt: 'Read thursday.md to me.',
    shows: 'A 429, a countdown, a tool that fails',
    answer: inTurn(
      () => ({ fail: { code: 'rateLimited', message: 'Too many requests (429).', status: 429, retryAfterMs: 2500 } }),
      () => ({
        text: 'That took two tries. Reading the file.',
        toolCalls: [{ name: 'read_file', arguments: { path: 'log/thursday.md' } }],
      }),
      () => ({
        text: 'There is no such file; the tool said so instead of stopping me. I will see what there is.',
        toolCalls: [{ name: 'list_files', arguments: { path: 'log' } }],
      }),
      ([, listing = '']) => ({
        text: `Thursday has not been written yet. The log has ${listing.match(/\w+\.md/g)?.length ?? 0} days so far.`,
      }),
    ),
  },
  {
    name: 'Approval',
    prompt: 'Add an entry for Thursday.',
    shows: 'A call that needs your approval',
    answer: inTurn(
      () => ({
        text: 'Writing changes your files, so I ask first.',
        toolCalls: [
          {
            name: 'write_file',
            arguments: { path: 'log/thursday.md', content: 'Wind: east, force 3\nTemperature: -9\nUnder way again.\n' },
          },
        ],
      }),
      ([outcome = '']) => ({ text: `The tool answered: ${outcome}` }),
    ),
  },
  {
    name: 'Input filter',
    prompt: 'Note that the password of the safe is walrus.',
    shows: 'A rejected input',
    answer: () => undefined,
  },
]

/** Returns the lowest temperature in search results, with its file. */
function coldest(found: string): string {
  const entries = [...found.matchAll(/(\w+)\.md\D*?\d*\D*?Temperature: (-?\d+)/g)].map((match) => ({
    day: match[1] ?? '',
    degrees: Number(match[2]),
  }))
  const [lowest] = entries.sort((a, b) => a.degrees - b.degrees)
  if (lowest === undefined) return 'not in the search results'
  return `${lowest.day.charAt(0).toUpperCase()}${lowest.day.slice(1)} with ${lowest.degrees} °C`
}
