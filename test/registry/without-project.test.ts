/** The command phi in a folder where nothing is installed: npx gets the packages. The packed tarball stands in for `phi-core`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pack } from '../harness/packed.ts'
import { type Stranger, stranger } from './stranger.ts'

const folder = mkdtempSync(join(tmpdir(), 'phi-without-project-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let tarball = ''
beforeAll(() => {
  tarball = pack(folder).tarball
}, 120_000)

const person = (): Stranger => stranger(folder, process.execPath, { ANTHROPIC_API_KEY: 'test-key' })

/** The program and arguments of the settings that `cli.md` shows under `key`, as a line for a shell. */
function settings(key: string): string {
  const line = readFileSync('docs/reference/cli.md', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`{ "${key}"`))
  const { [key]: servers } = JSON.parse(line ?? '{}')
  const { command, args }: { command: string; args: string[] } = servers.phi
  return [command, ...args.map((word) => (word === 'phi-core' ? tarball : word))].join(' ')
}

it('runs the demo', async () => {
  expect(await person().shell(`npx -p ${tarball} phi --demo --yes`)).toContain('**4 of 4** checks pass.')
})

describe('documented settings of other programs', () => {
  it.each([
    ['agent_servers', { protocolVersion: 1, clientCapabilities: {} }, 'agentInfo'],
    ['mcpServers', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }, 'serverInfo'],
  ])('starts phi from the documented %s settings', async (key, params, name) => {
    const request = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`
    const response = await person().shell(settings(key), request)
    expect(JSON.parse(response.split('\n')[0] ?? '')).toMatchObject({ id: 1, result: { [name]: { name: 'phi' } } })
  })
})

it.each([
  ['serve', 'hono'],
  ['acp', '@agentclientprotocol/sdk'],
  ['mcp', '@modelcontextprotocol/sdk'],
])('suggests the npx command if phi %s lacks %s', async (command, missing) => {
  const failed: { stderr: string } = await person()
    .shell(`npx -p ${tarball} phi ${command}`)
    .then(
      (output) => Promise.reject(new Error(`It did not fail: ${output}`)),
      (error) => error,
    )
  expect(failed.stderr).toContain(`npx -p phi-core -p ${missing}`)
})
