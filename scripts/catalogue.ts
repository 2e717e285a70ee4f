/**
 * Makes `src/models/catalogue-data.ts` of the catalogue in the npm package `@earendil-works/pi-ai` (MIT): facts of the models of the services that this
 * package has a factory for. Unpack the package, then
 *
 *     npm exec -- node scripts/catalogue.ts path/to/package 2026-11-10
 *
 * The date is that of the package.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Their file, and what our factories call the service. */
const services: readonly (readonly [file: string, provider: string])[] = [
  ['anthropic', 'anthropic'],
  ['openai', 'openai'],
  ['azure', 'azure_openai'],
  ['google', 'google'],
  ['google-vertex', 'vertex'],
  ['amazon-bedrock', 'bedrock'],
  ['xai', 'xai'],
  ['groq', 'groq'],
  ['mistral', 'mistral'],
  ['deepseek', 'deepseek'],
  ['cerebras', 'cerebras'],
  ['together', 'together'],
  ['fireworks', 'fireworks'],
  // One service with two names.
  ['moonshotai', 'moonshot'],
  ['moonshotai', 'kimi'],
  ['minimax', 'minimax'],
  ['zai', 'zai'],
]

interface Theirs {
  id: string
  type?: string
  reasoning: boolean
  input: string[]
  contextWindow: number
  maxTokens: number
  cost: Rates & { tiers?: (Rates & { inputTokensAbove: number })[] }
}

interface Rates {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

function modelsOf(folder: string, file: string): Theirs[] {
  try {
    const text = readFileSync(join(folder, 'dist/providers/data', `${file}.json`), 'utf8')
    const byApi: Record<string, Record<string, Theirs>> = JSON.parse(text)
    const chats = Object.values(byApi).flatMap((models) => Object.values(models).filter(({ type = 'chat' }) => type === 'chat'))
    return [...new Map(chats.map((model) => [model.id, model])).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  } catch (error) {
    console.error(`${file}: ${error instanceof Error ? error.message : error}`)
    return []
  }
}

/** Region prefixes of Bedrock name the same models, some at other prices: those stand for themselves. */
function isToldElsewhere(model: Theirs, all: readonly Theirs[]): boolean {
  const plain = all.find(({ id }) => model.id.endsWith(`.${id}`))
  return plain !== undefined && facts(plain) === facts(model)
}

function ratesOf({ input, output, cacheRead, cacheWrite }: Rates): number[] {
  return [input, output, cacheRead, cacheWrite].map((rate) => Number(rate.toFixed(6)))
}

function facts({ contextWindow, maxTokens, reasoning, input, cost }: Theirs): string {
  const marks = `${reasoning ? 'r' : ''}${input.includes('image') ? 'i' : ''}`
  const tiers = (cost.tiers ?? []).flatMap((tier) => [tier.inputTokensAbove, ...ratesOf(tier)])
  return [contextWindow, maxTokens, ...ratesOf(cost), marks || '-', ...tiers].join(' ')
}

const [folder, asOf] = process.argv.slice(2)
if (folder === undefined || asOf === undefined) throw new Error('node scripts/catalogue.ts FOLDER DATE')
const { version }: { version: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const sections = services.flatMap(([file, provider]) => {
  const models = modelsOf(folder, file)
  const alike = new Map<string, string[]>()
  for (const model of models) {
    if (isToldElsewhere(model, models)) continue
    const told = facts(model)
    alike.set(told, [...(alike.get(told) ?? []), model.id])
  }
  const rows = [...alike].map(([told, ids]) => `${ids.join()} ${told}`)
  return rows.length === 0 ? [] : [`  ${provider}: \`\n${rows.join('\n')}\n\`,`]
})
const head = `// Made by scripts/catalogue.ts of @earendil-works/pi-ai ${version} (MIT). Do not edit.

/** The date of the source. */
export const catalogueDate = '${asOf}'

/** Per service, a line for models that are alike: ids, context window, longest answer, USD per million tokens (in, out, read and written cache), \`r\`: thinks, \`i\`: sees, \`-\`: neither; then, for prompts of more tokens than the next figure, the same four rates. */
export const catalogueData: Readonly<Record<string, string>> = {
`
writeFileSync('src/models/catalogue-data.ts', `${head}${sections.join('\n')}\n}\n`)
