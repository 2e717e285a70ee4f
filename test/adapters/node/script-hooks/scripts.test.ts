import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ScriptHookOptions, scriptHooks } from '../../../../adapters/node/index.ts'
import { ConfigError } from '../../../../src/index.ts'
import { checkedOptions } from '../../../options/surface.ts'
import { present, temporaryRoot } from '../temporary.ts'
import { beforeTool, hooksOf, played } from './played.ts'

const hasPython = present('/usr/bin/python3', '--version')
const hasNode = present('/usr/bin/node', '--version')

describe('scriptHooks', () => {
  it('includes only hooks with scripts', () => {
    expect(Object.keys(hooksOf({ 'a.sh': '' }, { beforeTurn: 'a.sh', onError: 'a.sh' }).hooks)).toEqual(['beforeTurn', 'onError'])
    expect(hooksOf({}, {}).hooks).toEqual({})
  })

  it.skipIf(!hasPython)('runs a .py script with Python', async () => {
    const script =
      'import json, sys\ninfo = json.load(sys.stdin)\nprint(json.dumps({"allow": info["args"]["path"] != "a", "reason": "ä"}))\n'
    expect((await played(beforeTool(script, {}, 'h.py').hooks)).answers[0]).toMatch(/hook: ä$/)
    expect((await played(beforeTool(script, {}, 'h.py').hooks, { path: 'b' })).ran).toEqual(['b'])
    const { hooks } = hooksOf({ check: script }, { beforeToolExecution: 'python3 check' })
    expect((await played(hooks)).ran).toEqual([])
  })

  it.skipIf(!hasNode)('runs a .mjs script with Node', async () => {
    const script =
      'let text = ""; for await (const chunk of process.stdin) text += chunk\nconsole.log(JSON.stringify({ allow: JSON.parse(text).args.path === "b" }))'
    expect((await played(beforeTool(script, {}, 'h.mjs').hooks)).ran).toEqual([])
    expect((await played(beforeTool(script, {}, 'h.mjs').hooks, { path: 'b' })).ran).toEqual(['b'])
  })

  it('requires no execute permission because the interpreter reads the script', async () => {
    const { root } = temporaryRoot()
    writeFileSync(join(root, 'h'), '#!/bin/false\nexit 0\n')
    chmodSync(join(root, 'h'), 0o400)
    expect((await played(scriptHooks({ root, scripts: { beforeTurn: 'h' } }))).ran).toEqual(['a'])
  })

  it('throws immediately for invalid hook options', () => {
    const { root, outside } = temporaryRoot()
    writeFileSync(join(outside, 'x.sh'), 'exit 0')
    writeFileSync(join(root, 'big.sh'), '#'.repeat(1024 * 1024 + 1))
    writeFileSync(join(root, 'a.sh'), 'exit 0')
    symlinkSync(join(outside, 'x.sh'), join(root, 'link.sh'))
    symlinkSync(outside, join(root, 'folder'))
    const make =
      (script: string, options = {}) =>
      () =>
        scriptHooks({ root, scripts: { beforeTurn: script }, ...options })
    for (const [script, message] of [
      ['none.sh', /no such file/],
      ['', /not a regular file/],
      ['.', /not a regular file/],
      ['big.sh', /the limit is 1048576/],
      ['../outside/x.sh', /allowOutside/],
      [join(root, 'a.sh'), /allowOutside/],
      ['link.sh', /allowOutside/],
      ['folder/x.sh', /allowOutside/],
      ['/nowhere', /allowOutside/],
      ['my_plugin::before_turn', /no such file/],
      ['sh ../outside/x.sh', /allowOutside/],
    ] as const) {
      expect(make(script), script).toThrow(ConfigError)
      expect(make(script), script).toThrow(message)
    }
    for (const script of ['../outside/x.sh', 'link.sh', join(outside, 'x.sh')]) expect(make(script, { allowOutside: true })).not.toThrow()
    expect(make('a.sh', { interpreters: { sh: 'sh' } })).toThrow(/not an absolute path/)
    expect(make('a.sh', { interpreters: { sh: join(root, 'a.sh') } })).toThrow(/Cannot use/)
    expect(make('a.sh', { root: join(root, 'a.sh') })).toThrow(/not a directory/)
  })

  it('stores script copies outside directories that tools can write', () => {
    const { root } = temporaryRoot()
    const before = process.env.TMPDIR
    onTestFinished(() => {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    })
    process.env.TMPDIR = root
    expect(() => scriptHooks({ root, scripts: {} })).toThrow(/Set TMPDIR/)
  })
})

const { root } = temporaryRoot()
writeFileSync(join(root, 'a.sh'), 'exit 0')
checkedOptions<ScriptHookOptions>(
  'scriptHooks',
  {
    root,
    scripts: { beforeTurn: 'a.sh' },
    allowOutside: true,
    timeoutMs: 5,
    maxOutputBytes: 5,
    env: { A: 'b' },
    interpreters: { sh: '/bin/sh' },
  },
  (options) => scriptHooks(options),
  ['root', 'scripts'],
)
