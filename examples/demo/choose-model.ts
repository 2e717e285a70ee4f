import { ConfigError, type Model } from 'phi-core'
import { modelFromEnv } from 'phi-core/env'
import { local } from 'phi-core/providers/openai'
import { scripted } from 'phi-core/testing'
import { story } from './story.ts'

/** A model, and the first line the demo prints about it. */
export interface ChosenModel {
  model: Model
  description: string
}

/** Default addresses of local servers. */
const localServers = [
  { name: 'Ollama', url: 'http://127.0.0.1:11434/v1' },
  { name: 'LM Studio', url: 'http://127.0.0.1:1234/v1' },
  { name: 'vLLM', url: 'http://127.0.0.1:8000/v1' },
  { name: 'llama.cpp', url: 'http://127.0.0.1:8080/v1' },
]

/** Returns the model for a key in the environment, otherwise for a local server, otherwise the scripted model. */
export async function chooseModel(): Promise<ChosenModel> {
  try {
    const model = await modelFromEnv()
    return { model, description: `Model: ${model.config.name}, with the key of the environment.` }
  } catch (error) {
    if (!ConfigError.isInstance(error) || error.code !== 'missingEnvVar') throw error
    return (await findLocalServer()) ?? scriptedModel()
  }
}

function scriptedModel(): ChosenModel {
  const cost = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 }
  return {
    model: scripted(story, { delayMs: process.stdout.isTTY ? 40 : 2, chunkSize: 3, config: { cost } }),
    description: 'Model: scripted, part of this demo. The tools are real; the prices are typical.',
  }
}

/** Finds the first server that responds quickly and has a model. */
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
