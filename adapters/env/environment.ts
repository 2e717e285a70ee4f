import { fieldIn } from '../../src/contract/json.ts'
import { ConfigError } from '../../src/index.ts'

/** The variables of one source. `get` returns a variable if it is set and not blank. */
export interface Environment {
  get(name: string): string | undefined
  /** Variables that Deno did not permit to be read. */
  readonly denied: ReadonlySet<string>
}

/** Returns the variables in `given`, or by default the process's variables. Throws `ConfigError` if neither exists. */
export function environmentOf(given: object | undefined): Environment {
  const denied = new Set<string>()
  const read = given === undefined ? ofProcess(denied) : (name: string) => fieldIn(given, name)
  return {
    denied,
    get: (name) => {
      const value = read(name)
      return typeof value === 'string' && value.trim() !== '' ? value : undefined
    },
  }
}

function ofProcess(denied: Set<string>): (name: string) => unknown {
  const env = fieldIn(fieldIn(globalThis, 'Deno'), 'env')
  if (isDenoEnv(env)) {
    return (name) => {
      try {
        return env.get(name)
      } catch {
        denied.add(name)
        return undefined
      }
    }
  }
  const variables = fieldIn(fieldIn(globalThis, 'process'), 'env')
  if (typeof variables === 'object' && variables !== null) return (name) => fieldIn(variables, name)
  throw new ConfigError(
    'invalidOption',
    'Environment variables are unavailable here. Pass them as env: the bindings of a Worker, or import.meta.env in Vite. Anyone who opens a web page can read a key in it.',
  )
}

interface DenoEnv {
  get(name: string): string | undefined
}

function isDenoEnv(value: unknown): value is DenoEnv {
  return typeof fieldIn(value, 'get') === 'function'
}

/** Returns why a variable is missing and what to do, as the end of a message. */
export function adviceFor(names: readonly string[], { denied }: Environment): string {
  const either = names.join(' or ')
  const refused = names.filter((name) => denied.has(name))
  if (refused.length > 0) return `Deno denied access to ${either}. Start the program with --allow-env=${refused.join(',')}.`
  return `Set ${either} in the environment.`
}
