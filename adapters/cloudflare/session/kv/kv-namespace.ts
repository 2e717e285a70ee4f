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
      throw new SessionError('io', `${failed}. Workers KV allows one write per second and key. Retry later.`, { cause: error })
    if (quota.test(text)) throw new SessionError('quota', `${failed}. Delete sessions, or raise the account's limits.`, { cause: error })
    throw new SessionError('io', failed, { cause: error })
  }
}

/** The part of a Workers KV namespace that `kvSessionStore` uses. Implemented by bindings and wrappers. */
export interface KvNamespace {
  get(key: string): Promise<string | null>
  /** Reads up to 100 keys. Counts as one of the request's operations. */
  get(keys: string[]): Promise<Map<string, string | null>>
  put(key: string, value: string, options?: { metadata?: unknown }): Promise<void>
  delete(key: string): Promise<void>
  list(options: { prefix: string; cursor?: string }): Promise<KvKeyPage>
}

/** Up to 1,000 keys, ordered by name. */
export interface KvKeyPage {
  keys: { name: string; metadata?: unknown }[]
  list_complete: boolean
  /** Start of the next page. Absent on the last page. */
  cursor?: string
}

/** Returns all keys that start with `prefix`, in order. Calls `onProgress` for each page. */
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
