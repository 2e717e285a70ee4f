import type { KvNamespace } from '../../adapters/cloudflare/index.ts'
import type { KvKeyPage } from '../../adapters/cloudflare/session/kv/kv-namespace.ts'

/** The binding, with what only the tests use of it. */
export type RealKv = KvNamespace & { list(options: { prefix: string; cursor?: string; limit?: number }): Promise<KvKeyPage> }

/** A part of a namespace that begins empty. Its lists come in pages of `pageKeys` keys, with the cursors of KV. */
export function kvFolder(namespace: RealKv, folder: string, pageKeys = 3): KvNamespace {
  const inner = (key: string): string => `${folder}/${key}`
  const outer = (key: string): string => key.slice(folder.length + 1)
  async function get(key: string): Promise<string | null>
  async function get(keys: string[]): Promise<Map<string, string | null>>
  async function get(key: string | string[]): Promise<string | null | Map<string, string | null>> {
    if (typeof key === 'string') return namespace.get(inner(key))
    return new Map([...(await namespace.get(key.map(inner)))].map(([name, value]) => [outer(name), value]))
  }
  return {
    get,
    put: (key, value, options) => namespace.put(inner(key), value, options),
    delete: (key) => namespace.delete(inner(key)),
    list: async ({ prefix, cursor }) => {
      const page = await namespace.list({ prefix: inner(prefix), limit: pageKeys, ...(cursor !== undefined && { cursor }) })
      return { ...page, keys: page.keys.map((key) => ({ ...key, name: outer(key.name) })) }
    },
  }
}

/** A namespace as another data centre sees it, at the worst: what is written shows when `settle` is called, and misses are remembered. */
export function delayedKv(namespace: KvNamespace): { namespace: KvNamespace; settle: () => Promise<void> } {
  let waiting: (() => Promise<void>)[] = []
  const missed = new Set<string>()
  const seen = (key: string, value: string | null): string | null => {
    if (value === null) missed.add(key)
    return missed.has(key) ? null : value
  }
  async function get(key: string): Promise<string | null>
  async function get(keys: string[]): Promise<Map<string, string | null>>
  async function get(key: string | string[]): Promise<string | null | Map<string, string | null>> {
    if (typeof key === 'string') return seen(key, await namespace.get(key))
    return new Map([...(await namespace.get(key))].map(([name, value]) => [name, seen(name, value)]))
  }
  return {
    namespace: {
      get,
      put: async (key, value, options) => void waiting.push(() => namespace.put(key, value, options)),
      delete: async (key) => void waiting.push(() => namespace.delete(key)),
      list: (options) => namespace.list(options),
    },
    settle: async () => {
      const writes = waiting
      waiting = []
      for (const write of writes) await write()
      missed.clear()
    },
  }
}

/** A namespace as it is seen where the value of one key is not visible yet, and where that key may not be listed either. */
export function lateKv(namespace: KvNamespace, late: string, isListed: boolean): KvNamespace {
  async function get(key: string): Promise<string | null>
  async function get(keys: string[]): Promise<Map<string, string | null>>
  async function get(key: string | string[]): Promise<string | null | Map<string, string | null>> {
    if (typeof key === 'string') return key === late ? null : namespace.get(key)
    return new Map([...(await namespace.get(key))].map(([name, value]) => [name, name === late ? null : value]))
  }
  return {
    ...namespace,
    get,
    list: async (options) => {
      const page = await namespace.list(options)
      return { ...page, keys: page.keys.filter(({ name }) => isListed || name !== late) }
    },
  }
}

/** A namespace in which nothing is deleted: the process ends before it is. */
export function undeletingKv(namespace: KvNamespace): KvNamespace {
  return { ...namespace, delete: async () => undefined }
}
