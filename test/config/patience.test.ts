import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { agentOf, refusal } from '../support/agent-files.ts'

const part = 'data: {"choices":[{"index":0,"delta":{"content":"A"}}]}\n\n'

/** Where a service falls silent: at once, or behind its first bytes. */
async function silentService(hasBegun: boolean): Promise<string> {
  const server = createServer((_request, response) => {
    if (hasBegun) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(part)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

const section = (baseUrl: string, more: string) =>
  `[provider]\nmodel = "m"\napi_key = "k"\napi = "openai_completions"\nbase_url = "${baseUrl}"\n${more}`

it.each([
  ['first_byte_timeout_ms', 'firstByteTimeoutMs', false],
  ['idle_timeout_ms', 'idleTimeoutMs', true],
  ['progress_timeout_ms', 'progressTimeoutMs', true],
])('applies the provider timeout from an agent file: %s', async (key, limit, hasBegun) => {
  // That of progress is never shorter than that of the first byte.
  const more = limit === 'progressTimeoutMs' ? 'idle_timeout_ms = "none"\nfirst_byte_timeout_ms = 30\n' : ''
  const agent = await agentOf(section(await silentService(hasBegun), `${more}${key} = 30`), { trust: true })
  agent.configure({ retry: false, logger: false })
  const { status, error } = await agent.prompt('hi').result
  expect([status, error?.code]).toEqual(['error', 'network'])
  expect(error?.message).toContain(`(${limit})`)
})

it.each(['0', '-1', '1.5', '"for ever"', 'true'])('rejects an invalid timeout: %s', async (value) => {
  const error = await refusal(section('http://127.0.0.1:9/v1', `first_byte_timeout_ms = ${value}`), { trust: true })
  expect(error.message).toContain('first_byte_timeout_ms')
})
