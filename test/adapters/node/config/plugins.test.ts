import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LoadConfigOptions, loadConfigFile } from '../../../../adapters/node/config/index.ts'
import { agentFromConfig, agentsFromConfig, parseConfig, type TrustRequest, trustRequests } from '../../../../src/config.ts'
import { ConfigError } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'phi-plugins-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function put(path: string, text: string): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const provider = '[provider]\nmodel = "m"\napi_key = "k"\n'
const naming = (...paths: string[]) => `${provider}[agent]\nplugins = ${JSON.stringify(paths)}\n`
const answering = (word: string) =>
  `({ definePlugin }) => definePlugin({ name: '${word}', begin: () => ({ response: () => ({ text: '${word}' }) }) })`

function load(text: string, more: LoadConfigOptions = {}, at = 'home/agent.toml') {
  const createModel = () => scripted(() => ({ text: 'plain' }))
  return loadConfigFile(put(at, text), { root, trust: true, logger: false, createModel, ...more })
}

async function said(text: string, more: LoadConfigOptions = {}): Promise<string> {
  const { config, host } = await load(text, more)
  const agent = await agentFromConfig(config, host)
  return agent.prompt('go').text()
}

/** What the file is refused with. */
async function refusal(text: string, more: LoadConfigOptions = {}): Promise<ConfigError> {
  const error: unknown = await said(text, more).catch((reason: unknown) => reason)
  if (ConfigError.isInstance(error)) return error
  throw new Error(`It was not refused: ${String(error)}`)
}

describe('plugins in an agent file', () => {
  it('loads a plugin relative to the file regardless of the root', async () => {
    put('home/plugins/first.mjs', `export default ${answering('first')}`)
    expect(await said(naming('./plugins/first.mjs'))).toBe('first')
    expect(await said(naming('plugins/first.mjs'))).toBe('first')
  })

  it('loads a TypeScript plugin that uses definePlugin', async () => {
    const entry = JSON.stringify(join(process.cwd(), 'dist/loop.js'))
    put('home/word.ts', "export const word: string = 'typed'\n")
    put(
      'home/typed.ts',
      `import { definePlugin } from ${entry}
import { word } from './word.ts'
export default definePlugin({ name: 'typed', begin: () => ({ response: () => ({ text: word }) }) })`,
    )
    expect(await said(naming('typed.ts'))).toBe('typed')
  })

  it('loads every named export of a module without a default export', async () => {
    put('home/two.mjs', `export const a = ${answering('a')}\nexport const b = ${answering('b')}`)
    const { config, host } = await load(`${naming('two.mjs')}[[agent.instances]]\nname = "x"\n[[agent.instances]]\nname = "y"\n`)
    const agents = await agentsFromConfig(config, host)
    for (const agent of agents.values()) {
      expect(agent.settings.plugins?.map(({ name }) => name)).toEqual(['a', 'b'])
      expect(await agent.prompt('go').text()).toBe('b')
    }
    expect([...agents.keys()]).toEqual(['x', 'y'])
  })

  it.each([
    ['export default 7', 'the export "default" is a value of type number, no plugin. Use export default definePlugin'],
    ["export const a = { name: 'a', begin() {} }", 'the export "a" is a value of type object, no plugin'],
    ['export default () => undefined', 'the export "default" returned a value of type undefined, no plugin'],
    ["export default () => { throw new Error('no luck') }", 'the export "default" made no plugin: no luck'],
    ['export {}', 'exports nothing'],
    ["throw new Error('broken')", 'cannot be loaded: broken'],
    ['export default (', 'cannot be loaded'],
  ])('reports the location and a fix for %s', async (text, words) => {
    put('home/wrong.mjs', text)
    const error = await refusal(naming('wrong.mjs'))
    expect(error).toMatchObject({ code: 'invalidOption', field: 'agent.plugins[0]' })
    expect(error.message).toContain('agent.plugins[0]: The plugin "wrong.mjs"')
    expect(error.message).toContain(words)
  })

  it('rejects a missing file and a file without code', async () => {
    put('home/notes.md', '# Notes')
    expect(await refusal(naming('none.mjs'))).toMatchObject({ code: 'io', field: 'agent.plugins[0]' })
    expect(await refusal(naming('notes.md'))).toMatchObject({ code: 'invalidOption', field: 'agent.plugins[0]' })
    const { checkScripts } = await load(naming('none.mjs'))
    expect(checkScripts).toThrow('does not exist')
  })

  it('requires a host that can load plugins', async () => {
    const { config } = await parseConfig(naming('a.mjs'), 'toml')
    await expect(agentFromConfig(config, { trust: true })).rejects.toMatchObject({
      code: 'unsupported',
      field: 'agent.plugins[0]',
      message: expect.stringContaining('loadPlugin'),
    })
  })
})

describe('trust in plugins', () => {
  it('requires trust before loading anything', async () => {
    put('home/a.mjs', `globalThis.phiPluginLoaded = true\nexport default ${answering('a')}`)
    const text = `${naming('a.mjs')}[[mcp.servers]]\nname = "s"\ncommand = "node"\n`
    const { config } = await parseConfig(text, 'toml')
    expect(trustRequests(config).slice(0, 2)).toEqual([
      { kind: 'plugin', field: 'agent.plugins[0]', what: 'a.mjs' },
      { kind: 'server', field: 'mcp.servers[0].command', what: 'node' },
    ])
    const error = await refusal(naming('a.mjs'), { trust: false })
    expect(error).toMatchObject({ code: 'untrusted' })
    expect(error.message).toContain('agent.plugins[0] would run plugin code in this process: "a.mjs"')
    expect('phiPluginLoaded' in globalThis).toBe(false)
  })

  it('requests trust for a path outside the folder', async () => {
    put('elsewhere.mjs', `export default ${answering('elsewhere')}`)
    const asked: TrustRequest[] = []
    const trust = (request: TrustRequest) => asked.push(request) > 0
    expect(await said(naming('../elsewhere.mjs'), { trust })).toBe('elsewhere')
    expect(asked.map(({ what }) => what)).toEqual(['../elsewhere.mjs'])
  })

  it('reports a link that leads out of the folder', async () => {
    put('elsewhere.mjs', `export default ${answering('elsewhere')}`)
    put('home/keep', '')
    symlinkSync(join(root, 'elsewhere.mjs'), join(root, 'home/link.mjs'))
    expect(await refusal(naming('link.mjs'))).toMatchObject({ code: 'untrusted', field: 'agent.plugins[0]' })
  })

  it.each(['plugin.mjs', 'part.mjs'])('runs no code if %s changed during the trust prompt', async (changed) => {
    put('home/part.mjs', "export const word = 'shown'\n")
    put('home/plugin.mjs', `import './part.mjs'\nexport default ${answering('shown')}`)
    const trust = () => {
      put(`home/${changed}`, 'globalThis.phiPluginChanged = true')
      return true
    }
    const error = await refusal(naming('plugin.mjs'), { trust })
    expect(error.code).toBe('untrusted')
    expect(error.message).toMatch(new RegExp(`${changed.replace('.', '\\.')}.* changed after .*agent\\.toml was read`))
    expect('phiPluginChanged' in globalThis).toBe(false)
  })

  it('computes the fingerprint from the module and its imports', async () => {
    put('home/part.mjs', 'export const word = 1\n')
    put('home/plugin.mjs', `import './part.mjs'\nexport default ${answering('a')}`)
    const before = await (await load(naming('plugin.mjs'))).fingerprint()
    expect(before).toMatch(/^[0-9a-f]{64}$/)
    expect(await (await load(naming('plugin.mjs'))).fingerprint()).toBe(before)
    put('home/part.mjs', 'export const word = 2\n')
    expect(await (await load(naming('plugin.mjs'))).fingerprint()).not.toBe(before)
  })

  it('does not remember trust in a module that imports a package', async () => {
    put('home/plugin.mjs', "import 'phi-core/loop'\nexport default 1")
    const loaded = await load(naming('plugin.mjs'))
    expect(await loaded.fingerprint()).toBeUndefined()
    expect(loaded.notRemembered).toEqual([expect.stringContaining('agent.plugins[0]: it may load more than its text says')])
  })

  it('runs the new code of a changed module after renewed trust', async () => {
    put('home/a.mjs', `export default ${answering('old')}`)
    expect(await said(naming('a.mjs'))).toBe('old')
    put('home/a.mjs', `export default ${answering('new')}`)
    expect(await said(naming('a.mjs'))).toBe('new')
  })
})
