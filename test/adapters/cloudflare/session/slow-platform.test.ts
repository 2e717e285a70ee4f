import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { durableObjectSessionStore, type KvNamespace, kvSessionStore, type ObjectNamespace } from '../../../../adapters/cloudflare/index.ts'
import { note } from '../../../../testing/session-store/session-samples.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => {
  const left = vi.getTimerCount()
  vi.useRealTimers()
  expect(left).toBe(0)
})

const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms))
const agent = { agentId: 'a' }

/** A namespace with two keys on a page, that takes `speed.ms` for each page and value. */
function slowKv(speed: { ms: number }): KvNamespace {
  const stored = new Map<string, { value: string; metadata: unknown }>()
  async function get(key: string): Promise<string | null>
  async function get(keys: string[]): Promise<Map<string, string | null>>
  async function get(key: string | string[]): Promise<string | null | Map<string, string | null>> {
    await pause(speed.ms)
    const textOf = (name: string) => stored.get(name)?.value ?? null
    return typeof key === 'string' ? textOf(key) : new Map(key.map((name) => [name, textOf(name)]))
  }
  return {
    get,
    put: async (key, value, { metadata } = {}) => void stored.set(key, { value, metadata }),
    delete: async (key) => void stored.delete(key),
    async list({ prefix, cursor = '0' }) {
      await pause(speed.ms)
      const names = [...stored.keys()].filter((name) => name.startsWith(prefix)).sort()
      const end = Number(cursor) + 2
      const keys = names.slice(Number(cursor), end).map((name) => ({ name, metadata: stored.get(name)?.metadata }))
      return { keys, list_complete: end >= names.length, cursor: String(end) }
    },
  }
}

/** A namespace whose objects give a claim in pieces, one each `ms`. */
function slowObjects(ms: number): ObjectNamespace {
  const text = JSON.stringify({ value: { epoch: 1, writer: 'w', lines: [] } })
  const pieces = (text.match(/.{1,16}/g) ?? []).map((piece) => new TextEncoder().encode(piece))
  const fetch = async () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await pause(ms)
          const piece = pieces.shift()
          if (piece === undefined) controller.close()
          else controller.enqueue(piece)
        },
      }),
    )
  return { getByName: () => ({ fetch }) }
}

describe('opening a long session on a slow platform', () => {
  it('waits for Workers KV while pages and values arrive, else times out', async () => {
    const speed = { ms: 0 }
    const store = kvSessionStore(slowKv(speed))
    const opening = store.open('s', agent)
    await vi.advanceTimersByTimeAsync(0)
    const writer = await opening
    for (const text of ['1', '2', '3', '4', '5']) await writer.append([note(text)])
    await writer.close()
    speed.ms = 4000
    const again = store.open('s', agent)
    again.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(20_000)
    expect((await again).records).toHaveLength(5)
    let heard = 0
    const tail = store.tail('s', { onProgress: () => void heard++ })
    await vi.advanceTimersByTimeAsync(20_000)
    expect((await tail).records).toHaveLength(5)
    // Three pages of keys, one answer with all values; and the end.
    expect(heard).toBeGreaterThanOrEqual(4)
    speed.ms = 6000
    const hanging = expect(store.open('s', agent)).rejects.toMatchObject({ code: 'blocked' })
    await vi.advanceTimersByTimeAsync(100_000)
    await hanging
  })

  it('waits for a Durable Object while parts of its response arrive', async () => {
    const objects = slowObjects(4000)
    const opening = durableObjectSessionStore({ sessions: objects, index: objects }).open('s', agent)
    opening.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(30_000)
    expect((await opening).epoch).toBe(1)
  })
})
