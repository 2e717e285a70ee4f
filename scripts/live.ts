/**
 * npm run test:live: one smoke test per service whose key is in the environment, and nothing else. It costs a few hundred tokens per service
 * and is never part of npm test. PHI_LIVE_<NAME>_MODEL chooses another model, as in PHI_LIVE_OPENAI_MODEL.
 */
import { Agent, defineTool, type Model } from '../src/index.ts'
import { anthropic } from '../src/providers/anthropic/index.ts'
import { azure } from '../src/providers/azure/index.ts'
import { bedrock } from '../src/providers/bedrock/index.ts'
import { google } from '../src/providers/google/index.ts'
import { type BackendName, openai, openaiCompatible } from '../src/providers/openai.ts'
import { openaiResponses } from '../src/providers/openai-responses/index.ts'
import { vertex } from '../src/providers/vertex/index.ts'

/** The values of the variables a probe needs, in the order it names them. */
type Values = readonly string[]

/** One service: what must be in the environment, and its model. */
interface Probe {
  name: string
  needs: readonly string[]
  /** Default model id. */
  id: string
  model: (id: string, values: Values) => Model
}

const value = (values: Values, index: number): string => values[index] ?? ''

function compatible(backend: BackendName, key: string, id: string): Probe {
  return { name: backend, needs: [key], id, model: (model, values) => openaiCompatible(model, { backend, apiKey: value(values, 0) }) }
}

const probes: readonly Probe[] = [
  {
    name: 'anthropic',
    needs: ['ANTHROPIC_API_KEY'],
    id: 'claude-haiku-5-5',
    model: (id, keys) => anthropic(id, { apiKey: value(keys, 0) }),
  },
  { name: 'openai', needs: ['OPENAI_API_KEY'], id: 'gpt-5.1', model: (id, keys) => openai(id, { apiKey: value(keys, 0) }) },
  {
    name: 'openai-responses',
    needs: ['OPENAI_API_KEY'],
    id: 'gpt-5.1',
    model: (id, keys) => openaiResponses(id, { apiKey: value(keys, 0) }),
  },
  {
    name: 'azure',
    needs: ['AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_BASE_URL', 'AZURE_OPENAI_DEPLOYMENT'],
    id: '',
    model: (id, keys) => azure(id === '' ? value(keys, 2) : id, { apiKey: value(keys, 0), baseUrl: value(keys, 1) }),
  },
  { name: 'google', needs: ['GEMINI_API_KEY'], id: 'gemini-3.5-flash', model: (id, keys) => google(id, { apiKey: value(keys, 0) }) },
  {
    name: 'vertex',
    needs: ['VERTEX_ACCESS_TOKEN', 'VERTEX_PROJECT'],
    id: 'gemini-3.5-flash',
    model: (id, keys) => vertex(id, { apiKey: value(keys, 0), project: value(keys, 1) }),
  },
  {
    name: 'bedrock',
    needs: ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_REGION'],
    id: 'us.anthropic.claude-sonnet-4-6',
    model: (id, keys) => bedrock(id, { apiKey: value(keys, 0), region: value(keys, 1) }),
  },
  compatible('openrouter', 'OPENROUTER_API_KEY', 'openai/gpt-oss-20b'),
  compatible('xai', 'XAI_API_KEY', 'grok-4'),
  compatible('groq', 'GROQ_API_KEY', 'openai/gpt-oss-20b'),
  compatible('cerebras', 'CEREBRAS_API_KEY', 'gpt-oss-120b'),
  compatible('mistral', 'MISTRAL_API_KEY', 'mistral-small-latest'),
  compatible('deepseek', 'DEEPSEEK_API_KEY', 'deepseek-chat'),
  compatible('together', 'TOGETHER_API_KEY', 'openai/gpt-oss-20b'),
  compatible('fireworks', 'FIREWORKS_API_KEY', 'accounts/fireworks/models/gpt-oss-20b'),
  compatible('qwen', 'DASHSCOPE_API_KEY', 'qwen-plus'),
  compatible('kimi', 'MOONSHOT_API_KEY', 'kimi-k2-turbo-preview'),
  compatible('minimax', 'MINIMAX_API_KEY', 'MiniMax-M2'),
  compatible('zai', 'ZAI_API_KEY', 'glm-4.6'),
  compatible('copilot', 'GITHUB_COPILOT_TOKEN', 'gpt-4o'),
]

/** A service that is tested, or why it is not. */
export type Plan = { name: string; model: Model } | { name: string; missing: string[] }

/** What `env` allows to test. Nothing is sent. */
export function plansFor(env: Readonly<Record<string, string | undefined>>): Plan[] {
  return probes.map(({ name, needs, id, model }) => {
    const missing = needs.filter((variable) => !env[variable])
    if (missing.length > 0) return { name, missing }
    const chosen = env[`PHI_LIVE_${name.toUpperCase().replaceAll('-', '_')}_MODEL`] ?? id
    return {
      name,
      model: model(
        chosen,
        needs.map((variable) => env[variable] ?? ''),
      ),
    }
  })
}

/** One prompt with one tool call. Rejects, saying why, unless the model called the tool and answered with what it returned. */
export async function smoke(model: Model): Promise<string> {
  let calls = 0
  const add = defineTool<{ a: number; b: number }>({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    execute: ({ a, b }) => {
      calls += 1
      return String(a + b)
    },
  })
  const limits = { maxTurns: 4, maxTotalTokens: 20_000, maxDurationMs: 120_000 }
  const agent = new Agent({ model, tools: [add], limits, systemPrompt: 'Use the tool add for sums. Answer with the number alone.' })
  const { status, text, usage, error } = await agent.prompt('What is 1234 + 4321?').result
  if (status !== 'completed') throw new Error(error?.message ?? `The run ended with status ${status}.`)
  if (calls === 0) throw new Error(`The model never called the tool; it said: ${text.slice(0, 200)}`)
  if (!text.replace(/[\s,.]/g, '').includes('5555')) throw new Error(`The answer is not 5555: ${text.slice(0, 200)}`)
  if (usage.totalTokens === 0) throw new Error('The service reported no usage.')
  return `${usage.input} + ${usage.cacheRead} cached in, ${usage.output} out`
}

async function main(): Promise<void> {
  let failed = 0
  for (const plan of plansFor(process.env)) {
    if ('missing' in plan) {
      console.log(`skipped  ${plan.name}: ${plan.missing.join(', ')} not set`)
      continue
    }
    const { id } = plan.model.config
    try {
      console.log(`ok       ${plan.name} (${id}): ${await smoke(plan.model)} tokens`)
    } catch (error) {
      failed += 1
      console.log(`FAILED   ${plan.name} (${id}): ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (failed > 0) process.exitCode = 1
}

if (import.meta.main) await main()
