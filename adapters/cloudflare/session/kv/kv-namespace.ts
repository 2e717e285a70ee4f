/** What `kvSessionStore` uses of a Workers KV namespace. A binding has it; so may a wrapper of one. */
export interface KvNamespace {
  get(key: string): Promise<string | null>
  /** Up to 100 keys; one operation of the limit that a Worker has per request. */
  get(keys: string[]): Promise<Map<string, string | null>>
  put(key: string, value: string, options?: { metadata?: unknown }): Promise<void>
  delete(key: string): Promise<void>
  list(options: { prefix: string; cursor?: string }): Promise<KvKeyPage>
}

/** Up to 1,000 keys in the order of their names. */
export interface KvKeyPage {
  keys: { name: string; metadata?: unknown }[]
  list_complete: boolean
  /** Where the next page begins, unless this is the last. */
  cursor?: string
}

/** Every key that begins with `prefix`, in order. */
export async function listKeys(namespace: KvNamespace, prefix: string): Promise<KvKeyPage['keys']> {
  const keys: KvKeyPage['keys'] = []
  for (let cursor: string | undefined; ; ) {
    const page = await namespace.list(cursor === undefined ? { prefix } : { prefix, cursor })
    for (const key of page.keys) keys.push(key)
    cursor = page.list_complete ? undefined : page.cursor
    if (cursor === undefined) return keys
  }
}
