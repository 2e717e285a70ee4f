import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfigFile } from '../../../../adapters/node/config/index.ts'
import { agentFromConfig, agentsFromConfig, type TrustRequest } from '../../../../src/config.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { context } from '../../../tools/context.ts'

let root = ''
let outside = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'phi-config-'))
  outside = mkdtempSync(join(tmpdir(), 'phi-outside-'))
  writeFileSync(join(outside, 'secret.md'), 'From outside.')
  symlinkSync(outside, join(root, 'link'))
  put('work/prompt.md', 'From the workspace.')
  put('work/a.txt', 'hello')
})
afterAll(() => {
  rmSync(root, { recursive: true })
  rmSync(outside, { recursive: true })
})

function put(path: string, text: string | Uint8Array): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const provider = '[provider]\nmodel = "m"\napi_key = "k"\n'

/** Speaks as much MCP as it takes to be called; a call reports progress until it is cancelled. */
const busyServer = `
import { createInterface } from 'node:readline'
const tool = { name: 'act', inputSchema: { type: 'object', properties: {} } }
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'busy', version: '1' } }),
  'tools/list': () => ({ tools: [tool] }),
}
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
let at = 0
let timer
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'notifications/cancelled') clearInterval(timer)
  if (method !== 'tools/call') {
    if (id !== undefined) send({ id, result: results[method]?.(params) ?? {} })
    continue
  }
  const { progressToken } = params._meta
  timer = setInterval(() => send({ method: 'notifications/progress', params: { progressToken, progress: ++at } }), 20)
}
`

describe('loadConfigFile', () => {
  it('reads the format given by the file extension', async () => {
    const loaded = await loadConfigFile(put('a.toml', provider))
    expect(loaded).toMatchObject({ format: 'toml', path: join(root, 'a.toml') })
    expect(await loaded.fingerprint()).toMatch(/^[0-9a-f]{64}$/)
    expect((await loadConfigFile(put('a.JSON', '{"provider":{}}'))).format).toBe('json')
    expect((await loadConfigFile(put('a.yml', 'provider: {}'))).format).toBe('yaml')
    expect((await loadConfigFile(put('a.yaml', 'provider: {}'))).format).toBe('yaml')
  })

  it('rejects an invalid configuration file', async () => {
    await expect(loadConfigFile(put('a.txt', provider))).rejects.toMatchObject({ code: 'invalidOption' })
    await expect(loadConfigFile(join(root, 'none.toml'))).rejects.toMatchObject({ code: 'io' })
    mkdirSync(join(root, 'folder.toml'), { recursive: true })
    await expect(loadConfigFile(join(root, 'folder.toml'))).rejects.toMatchObject({ code: 'io' })
    await expect(loadConfigFile('/dev/zero.toml')).rejects.toMatchObject({ code: 'io' })
    await expect(loadConfigFile(put('binary.toml', new Uint8Array([0xff, 0xfe, 0x00])))).rejects.toMatchObject({ code: 'parse' })
    await expect(loadConfigFile(put('large.toml', 'a'.repeat(10_000_000)))).rejects.toMatchObject({ code: 'parse' })
    await expect(loadConfigFile(put('b.toml', provider), { nonsense: 1 } as never)).rejects.toMatchObject({ code: 'invalidOption' })
  })

  it("creates an agent with this machine's environment, files and tools", async () => {
    const text = `${provider.replace('"k"', '"${PHI_TEST_KEY}"')}
[agent]
workspace = "work"
system_prompt = "file:prompt.md"
[tools]
enabled = ["file_read"]`
    const script = [{ toolCalls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] }, { text: 'done' }]
    const { config, host } = await loadConfigFile(put('agent.toml', text), {
      root,
      env: { PHI_TEST_KEY: 'from the environment' },
      createModel: ({ api_key }) => (api_key === 'from the environment' ? scripted(script) : undefined),
    })
    const agent = await agentFromConfig(config, host)
    expect([agent.settings.systemPrompt, agent.settings.tools?.map(({ name }) => name)]).toEqual(['From the workspace.', ['read_file']])
    const { messages } = await agent.prompt('go').result
    expect(JSON.stringify(messages)).toContain('hello')
  })

  it('uses the process environment by default', async () => {
    const text = '[provider]\nmodel = "m"\napi_key = "${PATH}"\n[agent]\nsystem_prompt = "${PATH}"'
    const { config, host } = await loadConfigFile(put('env.toml', text), { trust: ({ kind }) => kind === 'variable' })
    expect((await agentFromConfig(config, host)).settings.systemPrompt).toBe(process.env.PATH)
  })

  it('reads files outside the workspace only with trust and never through links', async () => {
    const text = `${provider}[agent]\nsystem_prompt = "file:${outside}/secret.md"`
    const file = put('outside.toml', text)
    const trust = ({ field }: TrustRequest) => field.endsWith('api_key')
    const refused = await loadConfigFile(file, { root, trust })
    await expect(agentFromConfig(refused.config, refused.host)).rejects.toMatchObject({ code: 'untrusted', field: 'agent.system_prompt' })
    const trusted = await loadConfigFile(file, { root, trust: true })
    expect((await agentFromConfig(trusted.config, trusted.host)).settings.systemPrompt).toBe('From outside.')
    for (const path of ['/dev/zero', '/proc/self/mem', outside]) {
      const odd = await loadConfigFile(put('odd.toml', `${provider}[agent]\nsystem_prompt = "file:${path}"`), { root, trust: true })
      await expect(agentFromConfig(odd.config, odd.host)).rejects.toMatchObject({ code: expect.stringMatching(/^(io|parse)$/) })
    }
    const linked = await loadConfigFile(put('linked.toml', `${provider}[agent]\nworkspace = "link"\nsystem_prompt = "file:secret.md"`), {
      root,
      trust,
    })
    await expect(agentFromConfig(linked.config, linked.host)).rejects.toMatchObject({ code: 'untrusted' })
    const inner = await loadConfigFile(put('inner.toml', `${provider}[agent]\nsystem_prompt = "file:link/secret.md"`), { root, trust })
    await expect(agentFromConfig(inner.config, inner.host)).rejects.toMatchObject({ code: 'io' })
  })

  it('runs trusted scripts as hooks', async () => {
    put('hooks/no.sh', 'cat > /dev/null; echo \'{"allow": false, "reason": "not today"}\'')
    const file = put('hooks.toml', `${provider}[callbacks]\nbefore_turn = "hooks/no.sh"`)
    const model = scripted([{ text: 'never' }])
    const { config, host } = await loadConfigFile(file, { root, trust: ({ kind }) => kind === 'script', createModel: () => model })
    const agent = await agentFromConfig(config, host)
    expect(await agent.prompt('go').result).toMatchObject({ status: 'rejected' })
    expect(model.provider.requests).toEqual([])
  })

  it('starts trusted servers and stops them with the agent', async () => {
    const server = join(process.cwd(), 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
    const text = `${provider}
[[mcp.servers]]
name = "files"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(server)}, ${JSON.stringify(join(root, 'work'))}]
include = ["read_text_file"]
[[agent.instances]]
name = "a"
[[agent.instances]]
name = "b"`
    const { config, host } = await loadConfigFile(put('servers.toml', text), { root, trust: true })
    const [a, b] = (await agentsFromConfig(config, host)).values()
    expect(a?.settings.tools?.map(({ name }) => name)).toEqual(['files__read_text_file'])
    await a?.close()
    await b?.close()
  })

  it.each([
    ['timeout_secs = 0.3\nreset_timeout_on_progress = false', 'did not finish within 300 ms'],
    ['total_timeout_secs = 0.3', 'did not finish within 300 ms'],
    ['timeout_secs = 0.3\nreset_timeout_on_progress = false\ntotal_timeout_secs = 600', 'did not finish within 300 ms'],
  ])('ends a call to a server that reports progress endlessly: %s', async (limits, words) => {
    put('busy.mjs', busyServer)
    const place = `command = ${JSON.stringify(process.execPath)}\nargs = ["busy.mjs"]`
    const text = `${provider}[[mcp.servers]]\nname = "busy"\n${place}\n${limits}\n`
    const { config, host } = await loadConfigFile(put('busy.toml', text), { root, trust: true })
    const agent = await agentFromConfig(config, { ...host, createModel: () => scripted([]) })
    const [tool] = agent.settings.tools ?? []
    await expect(tool?.execute({}, context())).rejects.toThrow(words)
    await agent.close()
  })

  it('sends roots to its servers and their instructions to the model', async () => {
    const server = join(process.cwd(), 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
    const text = `${provider}
[agent]
workspace = "work"
[[mcp.servers]]
name = "all"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(server)}, "stdio"]
roots = [".", "docs"]
instructions = true`
    const { config, host } = await loadConfigFile(put('roots.toml', text), { root, trust: true })
    const model = scripted([{ toolCalls: [{ name: 'all__get-roots-list', arguments: {} }] }, { text: 'Seen.' }])
    const agent = await agentFromConfig(config, { ...host, createModel: () => model })
    await agent.prompt('Which roots?').text()
    await agent.close()
    const [result] = agent.messages.filter(({ role }) => role === 'toolResult')
    expect(JSON.stringify(result)).toContain(pathToFileURL(join(root, 'work')).href)
    expect(JSON.stringify(result)).toContain(pathToFileURL(join(root, 'work/docs')).href)
    expect(model.provider.requests[0]?.systemPrompt).toContain('<mcp-server tools="all__*">')
  })
})
