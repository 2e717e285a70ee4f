import type { Model } from 'phi-core'
import { keyFromEnv, modelFromEnv } from 'phi-core/env'
import { anthropic } from 'phi-core/providers/anthropic'

/** A model of one provider. Only the code of that provider is loaded. */
export const fromName = (): Promise<Model> => modelFromEnv('openai/gpt-5.1')

/** In a Worker, `env` has the bindings. */
export const inWorker = (env: object): Promise<Model> => modelFromEnv('anthropic', { env })

/** Reads only the key, for a factory with other options. */
export const withOptions = (): Model => anthropic('claude-sonnet-4-6', { apiKey: keyFromEnv('ANTHROPIC_API_KEY'), thinking: 'low' })
