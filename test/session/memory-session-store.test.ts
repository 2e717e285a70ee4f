import { describe, expect, it } from 'vitest'
import { memorySessionStore } from '../../src/index.ts'
import { logSessionStore, memoryDriver } from '../../src/session.ts'
import type { LogDriver, SessionDigest } from '../../src/types/session/session-store.ts'
import { sessionStoreSuite } from '../../testing/index.ts'

sessionStoreSuite({ describe, it, expect }, { name: 'memorySessionStore', create: memorySessionStore })

let latest = memoryDriver()

/** The lines a session has now, in place of those it had. */
async function damage(sessionId: string, how: (lines: string[]) => string[]): Promise<void> {
  const lines = how([...((await latest.read(sessionId, 0)) ?? [])])
  await latest.delete(sessionId)
  const claim = await latest.claim(sessionId, 'agent-1')
  await latest.append(
    claim,
    lines.map((text) => ({ epoch: 0, seq: Number.MAX_SAFE_INTEGER, text })),
  )
  await latest.release(claim)
}

sessionStoreSuite(
  { describe, it, expect },
  {
    name: 'logSessionStore over a driver whose lines are changed',
    create: () => {
      latest = memoryDriver()
      return logSessionStore(latest)
    },
    another: () => logSessionStore(latest),
    damage,
  },
)

it('keeps listed blobs of older writers and deletes the others', async () => {
  const { claim, blobs } = memoryDriver()
  const first = await claim('s1', 'a')
  for (const hash of ['kept', 'left']) await blobs?.put(first, hash, new Uint8Array([1, 2]))
  const second = await claim('s1', 'a')
  await blobs?.put(second, 'new', new Uint8Array([3]))
  await blobs?.keep(second, new Set(['kept']))
  const found = await Promise.all(['kept', 'left', 'new'].map((hash) => blobs?.get('s1', hash)))
  expect(found).toEqual([new Uint8Array([1, 2]), undefined, new Uint8Array([3])])
})

interface Written {
  at: number
  agentId: string
  lines: string[]
  digest: SessionDigest | undefined
}

/** What was written becomes visible to `read`, `claim` and `list` with `settle`; older writers cannot be refused. */
function delayed(): { driver: LogDriver; settle: () => Promise<void> } {
  const written = new Map<string, Written>()
  let visible = new Map<string, Written>()
  const agents = new Map<string, string>()
  let clock = Date.now()
  const driver: LogDriver = {
    promises: { conflict: 'forked', readAfterWrite: 'eventual', list: 'eventual', survives: 'nothing' },
    claim: async (sessionId, agentId) => {
      agents.set(sessionId, agentId)
      const lines = visible.get(sessionId)?.lines ?? []
      const epochs = lines.map((line) => Number(/"epoch":(\d+)/.exec(line)?.[1]))
      return { sessionId, epoch: Math.max(0, ...epochs) + 1, lines: [...lines] }
    },
    append: async ({ sessionId }, added, digest) => {
      const lines = [...(written.get(sessionId)?.lines ?? []), ...added.map(({ text }) => text)]
      written.set(sessionId, { at: clock++, agentId: agents.get(sessionId) ?? '', lines, digest })
    },
    release: async () => {},
    read: async (sessionId) => visible.get(sessionId)?.lines,
    list: async () =>
      [...visible].map(([sessionId, { at, agentId, digest = { loops: 0, messages: 0 } }]) => ({
        ...digest,
        sessionId,
        agentId,
        createdAt: 0,
        lastActiveAt: at,
      })),
    delete: async (sessionId) => {
      written.delete(sessionId)
      return visible.has(sessionId)
    },
  }
  return {
    driver,
    settle: async () => {
      visible = new Map(written)
    },
  }
}

let settle = async (): Promise<void> => {}

sessionStoreSuite(
  { describe, it, expect },
  {
    name: 'logSessionStore over a driver that shows late what was written',
    create: () => {
      const created = delayed()
      settle = created.settle
      return logSessionStore(created.driver)
    },
    settle: () => settle(),
  },
)
