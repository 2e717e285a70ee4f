import { SessionError } from '../../../../src/index.ts'
import { errorText } from '../error-text.ts'

/** What KV says when a value is too large (413), or when what the account may store or do a day is used up. */
const quota = /\b413\b|\blimit\b/i
const tooMany = /\b429\b|too many requests/i

/** The outcome of an operation on KV; a failure becomes a `SessionError`: `quota`, or `io` for what may work later. */
export async function kvOutcome<Value>(operation: 'get' | 'put' | 'list' | 'delete', outcome: Promise<Value>): Promise<Value> {
  try {
    return await outcome
  } catch (error) {
    const text = errorText(error)
    const failed = `Workers KV refused a ${operation}: ${text}`
    if (tooMany.test(text))
      throw new SessionError('io', `${failed}. It takes one write per second and key; try again later.`, { cause: error })
    if (quota.test(text))
      throw new SessionError('quota', `${failed}. Delete sessions, or raise the limits of the account.`, { cause: error })
    throw new SessionError('io', failed, { cause: error })
  }
}
