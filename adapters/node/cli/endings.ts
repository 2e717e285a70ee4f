import { ConfigError, PhiError } from '../../../src/index.ts'

/** Formats an error for the terminal. An unexpected error includes its name. */
export function errorLine(error: unknown): string {
  if (PhiError.isInstance(error)) return error.message
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

/**
 * Creates the error for a phi `command` whose optional packages are not installed. The message explains how to install them, with or
 * without a project.
 */
export function missingPackage(command: string, packages: readonly string[], cause: unknown): ConfigError {
  const added = packages.map((name) => `-p ${name}`).join(' ')
  const needs = `${command} needs ${packages.join(' and ')}, which ${packages.length > 1 ? 'are' : 'is'} not installed here.`
  const advice = `In a project, run: npm install ${packages.join(' ')}. Elsewhere, run: npx -p phi-core ${added} ${command}.`
  return new ConfigError('invalidOption', `${needs} ${advice}`, { cause })
}

/** Signals that stop phi. */
export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const codeOf: Readonly<Record<(typeof stopSignals)[number], number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
