import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { toNodeHandler } from '../../adapters/node/index.ts'
import { receiver, startServer } from '../../examples/recipes/servers/notices.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

it('sends a signed notice when a run ends, and the receiver rejects an invalid signature', async () => {
  const key = 'a key of more than 32 characters, for tests'
  const notices: string[] = []
  const receive = receiver(key, async (text) => void notices.push(text))
  const server = createServer(toNodeHandler(receive))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/hooks`
  const { fetch: ask, end } = startServer(memorySessionStore(), { url, key }, { model: scripted([{ text: 'Done.' }]), tools: [] })
  const headers = { 'content-type': 'application/json' }
  const begun = new Request('http://localhost/sessions/s1/runs', { method: 'POST', headers, body: '{"prompt":"Go."}' })
  await (await ask(begun)).text()
  await end()
  expect(notices).toEqual(['s1: completed'])
  const forged = new Request(url, {
    method: 'POST',
    body: '{"type":"end","id":"x"}',
    headers: { 'phi-signature': `t=1,v1=${'0'.repeat(64)}` },
  })
  expect((await receive(forged)).status).toBe(401)
})
