/**
 * Models and keys from environment variables, in Node, Deno, Bun, Workers and Vite. Nothing else in this package reads the environment by itself,
 * but for the command `phi`.
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

/** Where variables are read. */
export interface EnvOptions {
  /** Variables by name: the bindings of a Worker, `import.meta.env` of Vite, an object of yours. Default: those of the process. */
  env?: object
}

const envOptions = optionsOf<EnvOptions>({ env: anything })

/**
 * A model, with the key that the environment has for it: `anthropic/claude-sonnet-4-6`, `openai`, `ollama/llama3.3`.
 *
 * **Contract**
 * - `name` is `provider/model`, the provider in any case, or a provider alone, which stands for a current model of it. Default: what `PHI_MODEL` names, else a model of
 *   the first of `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` that is set.
 * - `<PROVIDER>_BASE_URL` is another address of the service. Context window and prices come from the catalogue, where it knows the model.
 * - Loads the provider of this model only, and sends no request.
 * - Rejects with `ConfigError`: `missingEnvVar` where no key is set, with the variable to set; `invalidOption` for a name that names nothing.
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
 * The value of the variable called `variable`, such as `ANTHROPIC_API_KEY`, for a factory: `anthropic(id, { apiKey: keyFromEnv('ANTHROPIC_API_KEY') })`.
 *
 * **Contract**
 * - Throws `ConfigError` `missingEnvVar` where it is not set or blank; the message names it, never a value.
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
  throw new ConfigError('missingEnvVar', `${variable} is not set, or empty. ${adviceFor([variable], env)}${hint}`)
}

function noModel(env: Environment): never {
  throw new ConfigError('missingEnvVar', `There is no model to ask. ${noModelAdvice(env)}`)
}
