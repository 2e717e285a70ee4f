import { PhiError } from '../../../../src/index.ts'

/** What a person is told of a failure: one that was foreseen says what to do; of another its kind is told as well. */
export function errorLine(error: unknown): string {
  if (PhiError.isInstance(error)) return error.message
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
