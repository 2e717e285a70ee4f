import type { Context } from 'hono'
import { ConfigError } from '../../../src/index.ts'
import { sessionStatus } from '../../../src/internal.ts'
import { refuse } from '../access/problem.ts'
import type { ListPage } from '../live/live-sessions.ts'

const maxPage = 200

/** How many a page has, as the query says it. Refuses with 400. */
export function limitOf(given: string | undefined): number {
  if (given === undefined) return 50
  const limit = Number(given)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPage)
    refuse(400, 'invalidBody', `limit must be a whole number from 1 to ${maxPage}.`)
  return limit
}

/** The part of a list that a query asks for. Refuses with 400. */
export function pageAsked(c: Context): ListPage {
  const { limit, cursor, status: given } = c.req.query()
  const status = sessionStatus.words.find((word) => word === given)
  if (given !== undefined && status === undefined) refuse(400, 'invalidBody', `status must be one of ${sessionStatus.words.join(', ')}.`)
  return { limit: limitOf(limit), ...(cursor !== undefined && { cursor }), ...(status !== undefined && { status }) }
}

/** Only the store knows the form of its cursors. */
export function refuseCursor(error: unknown): never {
  if (ConfigError.isInstance(error) && error.code === 'invalidOption') refuse(400, 'invalidCursor', error.message)
  throw error
}
