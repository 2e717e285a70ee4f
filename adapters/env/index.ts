/**
 * Creates models and reads keys from environment variables, in Node, Deno, Bun, Workers and Vite. Except for the command `phi`, no other
 * part of this package reads the environment.
 *
 * @example
 * ```ts
 * const agent = new Agent({ model: await modelFromEnv() })
 * ```
 *
 * @module
 */

import { ownOf } from '../../src/contract/json.ts'
import { checkOptions } from '../../src/contract/shape/read.ts'
import { anything, aText, either, options as optionsOf, required } from '../../src/contract/shape/shape.ts'
import { ConfigError, type Model } from '../../src/index.ts'
import { adviceFor, type Environment, environmentOf } from './environment.ts'
import { defaultModels, defaultName, keyVariables, loadModel, noModelAdvice } from './services.ts'

/** Options for `modelFromEnv` and `keyFromEnv`: the source of variables. */
export interface EnvOptions {
  /** Variables by name: a Worker's bindings, Vite's `import.meta.env`, or your own object. Default: the process's variables. */
  env?: object
}

const envOptions = optionsOf<EnvOptions>({ env: anything })

/**
 * Creates a model with its key from the environment: `anthropic/claude-sonnet-4-6`, `openai`, `ollama/llama3.3`.
 *
 * **Contract**
 * - `name` is `provider/model`, with the provider in any case, or a provider alone for one of its current models. Default: the value of
 *   `PHI_MODEL`, or a model for whichever is set first of `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` that is set.
 * - `<PROVIDER>_BASE_URL` replaces the provider's URL. Context window and prices come from the catalogue, if it lists the model.
 * - Loads only the provider of this model, and sends no request.
 * - Rejects with `ConfigError`: `missingEnvVar` without a key, with the variable to set; `invalidOption` for an unknown name.
 *
 * Source: docs/guides/keys-and-proxies.md
 *
 * @example
 * ```ts
 * const model = await modelFromEnv('openai/gpt-5.1')
 * ```
 */
export async function modelFromEnv(name?: string, options: EnvOptions = {}): Promise<Model> {
  checkOptions(name, either(aText, anything), 'name')
  checkOptions(options, envOptions)
  const env = environmentOf(options.env)
  const chosen = name ?? defaultName(env) ?? noModel(env)
  return loadModel(ownOf(defaultModels, chosen.trim().toLowerCase()) ?? chosen, env)
}

/**
 * Returns the value of `variable`, such as `ANTHROPIC_API_KEY`, for a factory: `anthropic(id, { apiKey: keyFromEnv('ANTHROPIC_API_KEY')
 * })`.
 *
 * **Contract**
 * - Throws `ConfigError` `missingEnvVar` if it is not set or blank. The message names the variable, never a value.
 *
 * Source: docs/guides/keys-and-proxies.md
 */
export function keyFromEnv(variable: string, options: EnvOptions = {}): string {
  checkOptions(variable, required(aText), 'variable')
  checkOptions(options, envOptions)
  const env = environmentOf(options.env)
  const value = env.get(variable)
  if (value !== undefined) return value
  const others = keyVariables.filter((other) => other !== variable && env.get(other) !== undefined)
  const hint = others.length === 0 ? '' : ` ${others.join(' and ')} ${others.length === 1 ? 'is' : 'are'} set.`
  throw new ConfigError('missingEnvVar', `${variable} is unset or empty. ${adviceFor([variable], env)}${hint}`)
}

function noModel(env: Environment): never {
  throw new ConfigError('missingEnvVar', `No model is configured. ${noModelAdvice(env)}`)
}
