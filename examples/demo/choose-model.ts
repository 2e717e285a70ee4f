import type { Model } from 'phi-core'
import { anthropic } from 'phi-core/providers/anthropic'
import { local, openai } from 'phi-core/providers/openai'
import { scripted } from 'phi-core/providers/scripted'
import { repositoryGuide } from './repository-guide.ts'

/** A model, and the first line the demo prints about it. */
export interface ChosenModel {
  model: Model
  description: string
}

/** Where local servers listen unless told otherwise. */
const localServers = [
  { name: 'Ollama', url: 'http://127.0.0.1:11434/v1' },
  { name: 'LM Studio', url: 'http://127.0.0.1:1234/v1' },
  { name: 'vLLM', url: 'http://127.0.0.1:8000/v1' },
  { name: 'llama.cpp', url: 'http://127.0.0.1:8080/v1' },
]

/** The model of a key in the environment, else of a local server, else the scripted one. */
export async function chooseModel(env = process.env): Promise<ChosenModel> {
  const { ANTHROPIC_API_KEY, ANTHROPIC_MODEL = 'claude-sonnet-4-6', OPENAI_API_KEY, OPENAI_MODEL = 'gpt-5.1' } = env
  if (ANTHROPIC_API_KEY) {
    const model = anthropic(ANTHROPIC_MODEL, { apiKey: ANTHROPIC_API_KEY })
    return { model, description: `Model: ${ANTHROPIC_MODEL} at Anthropic, with the key in ANTHROPIC_API_KEY.` }
  }
  if (OPENAI_API_KEY) {
    const model = openai(OPENAI_MODEL, { apiKey: OPENAI_API_KEY })
    return { model, description: `Model: ${OPENAI_MODEL} at OpenAI, with the key in OPENAI_API_KEY.` }
  }
  return (await findLocalServer()) ?? scriptedModel()
}

function scriptedModel(): ChosenModel {
  return {
    model: scripted(repositoryGuide, { delayMs: 12 }),
    description:
      'Model: scripted, part of this demo. It follows a fixed plan; the tools are real and every figure comes from their output.',
  }
}

/** The first server that answers within a moment and has a model. */
async function findLocalServer(): Promise<ChosenModel | undefined> {
  const found = await Promise.all(localServers.map(async (server) => ({ ...server, id: await firstModel(server.url) })))
  const server = found.find(({ id }) => id !== undefined)
  if (server?.id === undefined) return undefined
  return {
    model: local(server.id, { baseUrl: server.url }),
    description: `Model: ${server.id} on the local server at ${server.url} (${server.name}).`,
  }
}

async function firstModel(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/models`, { signal: AbortSignal.timeout(500) })
    const list: unknown = await response.json()
    if (typeof list !== 'object' || list === null || !('data' in list) || !Array.isArray(list.data)) return undefined
    const id: unknown = list.data[0]?.id
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}
