import type { Model } from 'phi-core'
import { keyFromEnv, modelFromEnv } from 'phi-core/env'
import { anthropic } from 'phi-core/providers/anthropic'

/** One service by name. Only its code is loaded. */
export const fromName = (): Promise<Model> => modelFromEnv('openai/gpt-5.1')

/** In a Worker: `env` holds its bindings. */
export const inWorker = (env: object): Promise<Model> => modelFromEnv('anthropic', { env })

/** A factory with options of its own takes the key alone. */
export const withOptions = (): Model => anthropic('claude-sonnet-4-6', { apiKey: keyFromEnv('ANTHROPIC_API_KEY'), thinking: 'low' })
