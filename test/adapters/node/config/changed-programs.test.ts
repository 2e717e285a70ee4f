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

describe('trusted programs', () => {
  beforeEach(() => {
    put('server.mjs', server)
    put('word.mjs', "export const word = 'shown'\n")
  })

  it('starts an unchanged server', async () => {
    const agent = await agentOf(named('["server.mjs"]'), () => undefined)
    await agent.close()
    expect(started()).toBe('shown')
  })

  it.each([
    ['the script itself', '["server.mjs"]', 'server.mjs'],
    ['a module that it imports', '["server.mjs"]', 'word.mjs'],
    ['a module that is loaded before it', '["--import", "./word.mjs", "server.mjs"]', 'word.mjs'],
    ['what a flag names', '["--import=./word.mjs", "server.mjs"]', 'word.mjs'],
    ['the script of a folder', '["."]', 'index.mjs'],
    ['the main script of a package', '["pack"]', 'pack/main.mjs'],
  ])('starts no server if %s changed during the question', async (_, args, changed) => {
    put('index.mjs', "import './server.mjs'\n")
    put('package.json', '{"main":"index.mjs"}')
    put('pack/package.json', '{"main":"main.mjs"}')
    put('pack/main.mjs', "import '../server.mjs'\n")
    const meanwhile = () =>
      put(changed, `import { appendFileSync } from 'node:fs'\nappendFileSync('started', 'CHANGED')\nexport const word = ''\n`)
    const error: unknown = await agentOf(named(args), () => void meanwhile()).catch((reason: unknown) => reason)
    expect(String(error)).toMatch(new RegExp(`${changed.replace('.', '\\.')}.* changed since .*agent\\.toml was read`))
    expect(started()).toBe('')
  })

  it.each([
    ['a shell', 'sh', `["-c", "${node} server.mjs"]`, 'server.mjs'],
    ['a quoted command of a shell', 'sh', `["-c", "'${node}' \\"server.mjs\\""]`, 'server.mjs'],
    ['another variable', 'env', `["${node}", "server.mjs"]`, 'server.mjs'],
    ['npm', 'npm', '["run", "start"]', 'package.json'],
  ])('starts no server by %s after a change', async (_, command, args, changed) => {
    put('package.json', '{"scripts":{"start":"node server.mjs"}}')
    const text = `${provider}[[mcp.servers]]\nname = "words"\ncommand = "${command}"\nargs = ${args}\n`
    await expect(agentOf(text, () => void put(changed, 'changed'))).rejects.toThrow(/changed since/)
    expect(started()).toBe('')
  })

  it('starts no server whose module was planted during the question', async () => {
    rmSync(join(root, 'word.mjs'))
    const error = await agentOf(named('["server.mjs"]'), () => void put('word.mjs', "export const word = 'planted'\n")).catch(String)
    expect(error).toMatch(/word\.mjs/)
    expect(started()).toBe('')
  })

  it('restarts no server that changed while it ran', async () => {
    const script = [
      { toolCalls: [{ name: 'words__say', arguments: {} }] },
      { toolCalls: [{ name: 'words__say', arguments: {} }] },
      { text: 'done' },
    ]
    const agent = await agentOf(named('["server.mjs", "end"]'), () => undefined, { createModel: () => scripted(script) })
    put('word.mjs', "export const word = 'CHANGED'\n")
    const { messages } = await agent.prompt('go').result
    await agent.close()
    expect(JSON.stringify(messages)).toMatch(/word\.mjs.*changed since/)
    expect(started()).toBe('shown')
  })

  it('restarts an unchanged server, whatever it wrote meanwhile', async () => {
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

  it('runs no hook script that changed during the question', async () => {
    put('check.sh', 'exit 0')
    const text = `${provider}[callbacks]\nbefore_turn = "check.sh"\n`
    const agent = agentOf(text, () => void put('check.sh', 'touch started'), { createModel: () => scripted([{ text: 'hi' }]) })
    await expect(agent).rejects.toMatchObject({ code: 'untrusted', message: expect.stringMatching(/check\.sh.* changed since/) })
    expect(existsSync(join(root, 'started'))).toBe(false)
  })

  it('runs no hook script that was planted during the question', async () => {
    const text = `${provider}[callbacks]\nbefore_turn = "check.sh"\n`
    await expect(agentOf(text, () => void put('check.sh', 'exit 0'))).rejects.toMatchObject({ code: 'untrusted' })
  })
})
