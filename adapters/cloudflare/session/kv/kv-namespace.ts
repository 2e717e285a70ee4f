import { errorText } from '../../../../src/contract/errors.ts'
import { SessionError } from '../../../../src/session.ts'

/** KV errors for a value that is too large (413), or an exhausted storage or daily limit. */
const quota = /\b413\b|\blimit\b/i
const tooMany = /\b429\b|too many requests/i

/** Runs an operation on KV. Converts failures to `SessionError`: `quota`, or `io` if a retry may succeed. */
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

/** The part of a Workers KV namespace that `kvSessionStore` uses. A binding implements it, and so can a wrapper. */
export interface KvNamespace {
  get(key: string): Promise<string | null>
  /** Reads up to 100 keys. Counts as one operation of a request. */
  get(keys: string[]): Promise<Map<string, string | null>>
  put(key: string, value: string, options?: { metadata?: unknown }): Promise<void>
  delete(key: string): Promise<void>
  list(options: { prefix: string; cursor?: string }): Promise<KvKeyPage>
}

/** Up to 1,000 keys in the order of their names. */
export interface KvKeyPage {
  keys: { name: string; metadata?: unknown }[]
  list_complete: boolean
  /** Start of the next page; absent on the last one. */
  cursor?: string
}

/** Returns all keys that begin with `prefix`, in order. `onProgress` is called with each page. */
export async function listKeys(namespace: KvNamespace, prefix: string, onProgress?: () => void): Promise<KvKeyPage['keys']> {
  const keys: KvKeyPage['keys'] = []
  for (let cursor: string | undefined; ; ) {
    const page = await namespace.list(cursor === undefined ? { prefix } : { prefix, cursor })
    for (const key of page.keys) keys.push(key)
    onProgress?.()
    cursor = page.list_complete ? undefined : page.cursor
    if (cursor === undefined) return keys
  }
}
