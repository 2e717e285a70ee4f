import { expect, it, vi } from 'vitest'
import { startServer } from '../../examples/recipes/servers/deploy.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

it('loses no run when deploy.ts restarts the server', async () => {
  const store = memorySessionStore()
  const never = new Promise<void>(() => undefined)
  const hanging = scripted(() => ({ text: 'One.' }), { gate: () => never })
  const first = await startServer(store, { model: hanging, tools: [] })
  const headers = { 'content-type': 'application/json' }
  await first.fetch(new Request('http://localhost/sessions/mine/runs', { method: 'POST', headers, body: '{"prompt":"Hi."}' }))
  await expect.poll(async () => (await store.list()).sessions[0]?.messages).toBe(1)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const ended = first.end()
  await vi.advanceTimersByTimeAsync(20_000)
  vi.useRealTimers()
  await ended
  await startServer(store, { model: scripted(() => ({ text: 'One.' })), tools: [] })
  await expect.poll(async () => (await store.load('mine')).loops.map(({ status }) => status)).toEqual(['interrupted', 'completed'])
})
