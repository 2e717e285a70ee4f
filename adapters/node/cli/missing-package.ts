import { ConfigError } from '../../../src/index.ts'

/**
 * Creates the error of a `command` of phi whose optional packages are not installed. The message says how to add them, in a project and
 * without one.
 */
export function missingPackage(command: string, packages: readonly string[], cause: unknown): ConfigError {
  const added = packages.map((name) => `-p ${name}`).join(' ')
  const needs = `${command} needs ${packages.join(' and ')}, which ${packages.length > 1 ? 'are' : 'is'} not installed here.`
  const advice = `In a project, run: npm install ${packages.join(' ')}. Elsewhere, run: npx -p phi-core ${added} ${command}.`
  return new ConfigError('invalidOption', `${needs} ${advice}`, { cause })
}
