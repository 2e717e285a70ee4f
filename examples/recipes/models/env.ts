import type { Model } from 'phi-core'
import { keyFromEnv, modelFromEnv } from 'phi-core/env'
import { anthropic } from 'phi-core/providers/anthropic'

/** Creates a model of one provider, and loads only the code of that provider. */
export const fromName = (): Promise<Model> => modelFromEnv('openai/gpt-5.1')

/** In a Worker, `env` contains the bindings. */
export const inWorker = (env: object): Promise<Model> => modelFromEnv('anthropic', { env })

/** Reads only the key, for a factory with other options. */
export const withOptions = (): Model => anthropic('claude-sonnet-4-6', { apiKey: keyFromEnv('ANTHROPIC_API_KEY'), thinking: 'low' })
