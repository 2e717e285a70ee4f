import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LoadConfigOptions, loadConfigFile } from '../../../../adapters/node/config/index.ts'
import { agentFromConfig } from '../../../../src/config.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'

/** Starts Node, and has nothing of its size: all of a program is hashed each time. */
const programs = mkdtempSync(join(tmpdir(), 'phi-programs-'))
const node = join(programs, 'node')
writeFileSync(node, `#!/bin/sh\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 })
afterAll(() => rmSync(programs, { recursive: true }))

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'phi-changed-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function put(path: string, text: string): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** Speaks as much MCP as it takes to be called; what it says is in a module of its own. `end` ends it. */
const server = `
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { word } from './word.mjs'
appendFileSync('started', word)
const tool = { name: 'say', description: 'Says it.', inputSchema: { type: 'object', properties: {} } }
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'words', version: '1' } }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': () => (process.argv[2] === 'end' ? process.exit(1) : { content: [{ type: 'text', text: word }] }),
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method]?.(params) ?? {} }))
}
`
const provider = '[provider]\nmodel = "m"\napi_key = "k"\n'
const named = (args: string) => `${provider}[[mcp.servers]]\nname = "words"\ncommand = ${JSON.stringify(node)}\nargs = ${args}\n`
const started = () => (existsSync(join(root, 'started')) ? readFileSync(join(root, 'started'), 'utf8') : '')

/** An agent of the file; what is asked about is trusted, after `meanwhile`. */
async function agentOf(text: string, meanwhile: () => void, more: LoadConfigOptions = {}) {
  const trust = () => {
    meanwhile()
    return true
  }
  const { config, host } = await loadConfigFile(put('agent.toml', text), { root, trust, logger: false, ...more })
  return agentFromConfig(config, host)
}

describe('trusted programs in an agent file', () => {
  beforeEach(() => {
    put('server.mjs', server)
    put('word.mjs', "export const word = 'shown'\n")
  })

  it('starts a server that did not change', async () => {
    const agent = await agentOf(named('["server.mjs"]'), () => undefined)
    await agent.close()
    expect(started()).toBe('shown')
  })

  it.each([
    ['the script itself', '["server.mjs"]', 'server.mjs'],
    ['a module that it imports', '["server.mjs"]', 'word.mjs'],
    ['a preloaded module', '["--import", "./word.mjs", "server.mjs"]', 'word.mjs'],
    ['a file in a flag', '["--import=./word.mjs", "server.mjs"]', 'word.mjs'],
    ['the script of a folder', '["."]', 'index.mjs'],
    ['the main script of a package', '["pack"]', 'pack/main.mjs'],
  ])('does not start a server if %s changed during the trust prompt', async (_, args, changed) => {
    put('index.mjs', "import './server.mjs'\n")
    put('package.json', '{"main":"index.mjs"}')
    put('pack/package.json', '{"main":"main.mjs"}')
    put('pack/main.mjs', "import '../server.mjs'\n")
    const meanwhile = () =>
      put(changed, `import { appendFileSync } from 'node:fs'\nappendFileSync('started', 'CHANGED')\nexport const word = ''\n`)
    const error: unknown = await agentOf(named(args), () => void meanwhile()).catch((reason: unknown) => reason)
    expect(String(error)).toMatch(new RegExp(`${changed.replace('.', '\\.')}.* changed after .*agent\\.toml was read`))
    expect(started()).toBe('')
  })

  it.each([
    ['a shell', 'sh', `["-c", "${node} server.mjs"]`, 'server.mjs'],
    ['a quoted shell command', 'sh', `["-c", "'${node}' \\"server.mjs\\""]`, 'server.mjs'],
    ['the env command', 'env', `["${node}", "server.mjs"]`, 'server.mjs'],
    ['npm', 'npm', '["run", "start"]', 'package.json'],
  ])('does not start a server through %s after a change', async (_, command, args, changed) => {
    put('package.json', '{"scripts":{"start":"node server.mjs"}}')
    const text = `${provider}[[mcp.servers]]\nname = "words"\ncommand = "${command}"\nargs = ${args}\n`
    await expect(agentOf(text, () => void put(changed, 'changed'))).rejects.toThrow(/changed after/)
    expect(started()).toBe('')
  })

  it('does not start a server whose module was added during the trust prompt', async () => {
    rmSync(join(root, 'word.mjs'))
    const error = await agentOf(named('["server.mjs"]'), () => void put('word.mjs', "export const word = 'planted'\n")).catch(String)
    expect(error).toMatch(/word\.mjs/)
    expect(started()).toBe('')
  })

  it('does not restart a server that changed while running', async () => {
    const script = [
      { toolCalls: [{ name: 'words__say', arguments: {} }] },
      { toolCalls: [{ name: 'words__say', arguments: {} }] },
      { text: 'done' },
    ]
    const agent = await agentOf(named('["server.mjs", "end"]'), () => undefined, { createModel: () => scripted(script) })
    put('word.mjs', "export const word = 'CHANGED'\n")
    const { messages } = await agent.prompt('go').result
    await agent.close()
    expect(JSON.stringify(messages)).toMatch(/word\.mjs.*changed after/)
    expect(started()).toBe('shown')
  })

  it('restarts an unchanged server regardless of data it wrote', async () => {
    put('data.json', '{}')
    const script = [
      { toolCalls: [{ name: 'words__say', arguments: {} }] },
      { toolCalls: [{ name: 'words__say', arguments: {} }] },
      { text: 'done' },
    ]
    const agent = await agentOf(named('["server.mjs", "end", "data.json"]'), () => undefined, { createModel: () => scripted(script) })
    put('data.json', '{"more":1}')
    await agent.prompt('go').result
    await agent.close()
    expect(started()).toBe('shownshown')
  })

  it('does not run a hook script that changed during the trust prompt', async () => {
    put('check.sh', 'exit 0')
    const text = `${provider}[callbacks]\nbefore_turn = "check.sh"\n`
    const agent = agentOf(text, () => void put('check.sh', 'touch started'), { createModel: () => scripted([{ text: 'hi' }]) })
    await expect(agent).rejects.toMatchObject({ code: 'untrusted', message: expect.stringMatching(/check\.sh.* changed after/) })
    expect(existsSync(join(root, 'started'))).toBe(false)
  })

  it('does not run a hook script that was added during the trust prompt', async () => {
    const text = `${provider}[callbacks]\nbefore_turn = "check.sh"\n`
    await expect(agentOf(text, () => void put('check.sh', 'exit 0'))).rejects.toMatchObject({ code: 'untrusted' })
  })
})
