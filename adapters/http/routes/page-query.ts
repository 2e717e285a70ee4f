import { ConfigError } from '../../../src/index.ts'
import { refuse } from '../access/problem.ts'

const maxPage = 200

/** How many a page has, as the query says it. Refuses with 400. */
export function limitOf(given: string | undefined): number {
  if (given === undefined) return 50
  const limit = Number(given)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPage)
    refuse(400, 'invalidBody', `limit must be a whole number from 1 to ${maxPage}.`)
  return limit
}

/** Only the store knows the form of its cursors. */
export function refuseCursor(error: unknown): never {
  if (ConfigError.isInstance(error) && error.code === 'invalidOption') refuse(400, 'invalidCursor', error.message)
  throw error
}
