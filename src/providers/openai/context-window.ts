/** Tokens that a model is taken to have where nothing is known of it: what every current model of these services has at least. */
const assumed = 128_000

/**
 * Tokens of context by family; the first row that matches counts. For families that charge a higher price above some length, it is that length.
 * Source: docs/providers/openai.md
 */
const windows: readonly (readonly [RegExp, number])[] = [
  [/(^|[/:.])gpt-3\.5/, 16_385],
  [/(^|[/:.])gpt-4-32k/, 32_768],
  [/(^|[/:.])gpt-4(-0[36]\d\d)?$/, 8192],
  [/(^|[/:.])gpt-4\.1/, 1_047_576],
  [/(^|[/:.])(gpt-4|chatgpt-4o|gpt-5[\d.]*-chat|gpt-5\.3-codex-spark|gpt-oss-safeguard|o1-(preview|mini))/, 128_000],
  [/(^|[/:.])gpt-5\.[45]-pro/, 1_050_000],
  [/(^|[/:.])gpt-5(\.\d+)?-(mini|nano|cyber|pro|codex)/, 400_000],
  [/(^|[/:.])(gpt-5\.[4-9]|gpt-6)/, 272_000],
  [/(^|[/:.])gpt-5/, 400_000],
  [/(^|[/:.])o[1-4](-|$)/, 200_000],
  [/(^|[/:.])gpt-oss/, 131_072],
]

/** Tokens of context of a model of OpenAI, whoever serves it; of any other, what its service says, else 128,000. An option or a catalogue knows better. */
export function contextWindowOf(id: string, otherwise: number = assumed): number {
  return windows.find(([ids]) => ids.test(id))?.[1] ?? otherwise
}
