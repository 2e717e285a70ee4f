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
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number }
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

/** Region prefixes of Bedrock name the same models. */
function isRegional({ id }: Theirs): boolean {
  return /^(eu|us|au|jp|apac|global)\./.test(id)
}

function row({ id, contextWindow, maxTokens, reasoning, input, cost }: Theirs): string {
  const rates = [cost.input, cost.output, cost.cacheRead, cost.cacheWrite].map((rate) => Number(rate.toFixed(6)))
  const marks = `${reasoning ? 'r' : ''}${input.includes('image') ? 'i' : ''}`
  return [id, contextWindow, maxTokens, ...rates, marks].join(' ')
}

const [folder, asOf] = process.argv.slice(2)
if (folder === undefined || asOf === undefined) throw new Error('node scripts/catalogue.ts FOLDER DATE')
const { version }: { version: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const sections = services.flatMap(([file, provider]) => {
  const rows = modelsOf(folder, file)
    .filter((model) => !isRegional(model))
    .map(row)
  return rows.length === 0 ? [] : [`  ${provider}: \`\n${rows.join('\n')}\n\`,`]
})
const head = `// Made by scripts/catalogue.ts of @earendil-works/pi-ai ${version} (MIT). Do not edit.

/** The date of the source. */
export const catalogueDate = '${asOf}'

/** Per service, a model a line: id, context window, longest answer, USD per million tokens (in, out, read and written cache), \`r\`: thinks, \`i\`: sees. */
export const catalogueData: Readonly<Record<string, string>> = {
`
writeFileSync('src/models/catalogue-data.ts', `${head}${sections.join('\n')}\n}\n`)
