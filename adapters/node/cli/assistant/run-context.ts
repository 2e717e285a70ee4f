import { isJsonObject } from '../../../../src/contract/json.ts'
import { ConfigError } from '../../../../src/index.ts'

/**
 * Returns the runs' `context`: the agent file's context and the `--context NAME=VALUE` options. A value `$NAME` reads an environment
 * variable, so that tokens do not appear in process lists. Throws `ConfigError` `invalidOption` or `missingEnvVar`.
 */
export function contextOf(pairs: readonly string[], ofFile: unknown, env: NodeJS.ProcessEnv = process.env): Record<string, unknown> {
  const context: Record<string, unknown> = isJsonObject(ofFile) ? { ...ofFile } : {}
  for (const pair of pairs) {
    const [, name = '', value = ''] = /^([A-Za-z_][\w-]*)=(.*)$/s.exec(pair) ?? []
    if (name === '') throw new ConfigError('invalidOption', '--context needs NAME=VALUE, such as --context tenant=acme.')
    context[name] = value.startsWith('$') ? variable(value.slice(1), env) : value
  }
  return context
}

function variable(name: string, env: NodeJS.ProcessEnv): string {
  const value = env[name]
  if (value !== undefined) return value
  throw new ConfigError('missingEnvVar', `--context reads ${name}, which is not set. Set it: export ${name}=…`)
}
