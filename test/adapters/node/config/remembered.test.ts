import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfigFile } from '../../../../adapters/node/config/index.ts'

let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'phi-remembered-'))
  for (const [path, text] of Object.entries(files)) put(path, text)
  symlinkSync(process.execPath, join(root, 'node'))
  chmodSync(join(root, 'server'), 0o755)
})
afterAll(() => rmSync(root, { recursive: true }))

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

const files: Record<string, string> = {
  'server.mjs':
    "import { createInterface } from 'node:readline'\nimport { word } from './lib/word.mjs'\nconsole.log(word, createInterface)\n",
  'lib/word.mjs': "export { word } from './deep.mjs'\n",
  'lib/deep.mjs': "export const word = 'hi'\n",
  'server.cjs': "const { word } = require('./lib/word.cjs')\nrequire('node:fs').writeFileSync('x', word)\n",
  'lib/word.cjs': "exports.word = 'hi'\n",
  'server.js': "import './lib/word.mjs'\n",
  'package.json': '{"type":"module","main":"server.js","scripts":{"start":"node server.js"}}',
  'lazy.mjs': "const late = await import('./lib/word.mjs')\nconsole.log(late, import.meta.url)\n",
  'bare.mjs': "import { z } from 'zod'\nconsole.log(z)\n",
  'computed.mjs': 'await import(process.argv[2])\n',
  'template.mjs': 'await import(`./${process.argv[2]}.mjs`)\n',
  'spawns.mjs': "import { spawn } from 'node:child_process'\nspawn('sh')\n",
  'worker.mjs': "import { Worker } from 'node:worker_threads'\nnew Worker('./lib/word.mjs')\n",
  'creates.mjs': "import { createRequire } from 'node:module'\ncreateRequire(import.meta.url)('./lib/word.cjs')\n",
  'evals.mjs': "eval('1')\n",
  'functions.mjs': "new Function('return 1')()\n",
  'deepBare.mjs': "import './bare.mjs'\n",
  'folder.cjs': "require('./lib')\n",
  'server.py': 'import json\n',
  'server.sh': 'node server.mjs\n',
  server: '#!/usr/bin/env node\n',
  'hooks/plain.sh': '# Says no.\ncat > /dev/null\nif [ "$PHI_HOOK" = x ]; then exit 0; fi\necho \'{"allow": false}\'\n',
  'hooks/sources.sh': '. ./lib.sh\n',
  'hooks/runs.sh': './lib.sh\n',
  'hooks/calls.sh': 'python3 lib.py\n',
  'hooks/substitutes.sh': 'echo "$(./lib.sh)"\n',
  'hooks/backticks.sh': 'echo `./lib.sh`\n',
  'hooks/path.sh': 'PATH=. cat\n',
  'hooks/evals.sh': 'eval "$X"\n',
  'hooks/variable.sh': '$X\n',
  'hooks/quoted.sh': '"./lib.sh"\n',
  'hooks/exec.sh': 'exec ./lib.sh\n',
  'hooks/plain.mjs': "import { readFileSync } from 'node:fs'\nreadFileSync(0)\n",
  'hooks/bare.mjs': "import 'zod'\n",
  'hooks/check.py': 'print()\n',
  'hooks/check': 'exit 0\n',
}

const provider = '[provider]\nmodel = "m"\napi_key = "k"\n'
/** Has the name of Node and nothing of its size: all of a program is hashed each time. */
const programs = mkdtempSync(join(tmpdir(), 'phi-programs-'))
const node = join(programs, 'node')
writeFileSync(node, '')
afterAll(() => rmSync(programs, { recursive: true }))

async function ofServer(command: string, args: readonly string[], env: Record<string, string> = {}) {
  const pairs = Object.entries(env).map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`)
  const table = `command = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\nenv = { ${pairs.join(', ')} }\n`
  return load(`${provider}[[mcp.servers]]\nname = "a"\n${table}`)
}

async function load(text: string) {
  put('agent.toml', text)
  const loaded = await loadConfigFile(join(root, 'agent.toml'), { root, env: { SCRIPT: 'server.mjs' } })
  return { fingerprint: await loaded.fingerprint(), why: loaded.notRemembered }
}

describe('remembered trust', () => {
  it.each<[command: string, args: string[], env?: Record<string, string>]>([
    [process.execPath, ['server.mjs']],
    [node, ['./server.mjs', '--port', '1', 'data']],
    ['node', ['server.mjs']],
    [node, ['server.cjs']],
    [node, ['server.js']],
    [node, ['lazy.mjs']],
    [node, ['server.mjs'], { API_KEY: '${SCRIPT}', DEBUG: 'all of it' }],
  ])('includes %s %j %j in the fingerprint', async (...form) => {
    const { fingerprint, why } = await ofServer(...form)
    expect(why).toEqual([])
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each(['hooks/plain.sh', 'sh hooks/plain.sh', 'hooks/plain.mjs', 'node hooks/plain.mjs'])(
    'includes the hook %s in the fingerprint',
    async (script) => {
      const { fingerprint, why } = await load(`${provider}[callbacks]\nbefore_turn = "${script}"\n`)
      expect(why).toEqual([])
      expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
    },
  )

  it.each<[changed: string, text: string]>([
    ['server.mjs', `${files['server.mjs']}// changed`],
    ['lib/word.mjs', `${files['lib/word.mjs']}// changed`],
    ['lib/deep.mjs', "export const word = 'other'\n"],
  ])('expires when the loaded file %s changes', async (changed, text) => {
    const before = await ofServer(node, ['server.mjs'])
    put(changed, text)
    const after = await ofServer(node, ['server.mjs'])
    put(changed, files[changed] ?? '')
    expect(after.fingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect(after.fingerprint).not.toBe(before.fingerprint)
    expect((await ofServer(node, ['server.mjs'])).fingerprint).toBe(before.fingerprint)
  })

  it('stays valid when data files change', async () => {
    const before = await ofServer(node, ['server.mjs', 'data.json'], { STORE: 'data.json' })
    for (const text of ['{}', '{"more":1}']) {
      put('data.json', text)
      expect(await ofServer(node, ['server.mjs', 'data.json'], { STORE: 'data.json' })).toEqual(before)
    }
  })
})

describe('trust that is not remembered', () => {
  it.each<[command: string, args: string[], env?: Record<string, string>]>([
    [node, ['.']],
    [node, ['lib']],
    [node, []],
    [node, ['server']],
    [node, ['missing.mjs']],
    [node, ['-e', "import('./server.mjs')"]],
    [node, ['--import', './lib/word.mjs', 'server.mjs']],
    [node, ['--import=./lib/word.mjs', 'server.mjs']],
    [node, ['-r', './lib/word.cjs', 'server.mjs']],
    [node, ['--env-file=.env', 'server.mjs']],
    [node, ['"server.mjs"']],
    [node, ['$(pwd)/server.mjs']],
    [node, ['${SCRIPT}']],
    [node, ['server.mjs', '`x`']],
    [node, ['bare.mjs']],
    [node, ['deepBare.mjs']],
    [node, ['computed.mjs', './server.mjs']],
    [node, ['template.mjs', 'server']],
    [node, ['spawns.mjs']],
    [node, ['worker.mjs']],
    [node, ['creates.mjs']],
    [node, ['evals.mjs']],
    [node, ['functions.mjs']],
    [node, ['folder.cjs']],
    [node, ['server.mjs'], { NODE_OPTIONS: '--import ./lib/word.mjs' }],
    [node, ['server.mjs'], { LD_PRELOAD: './lib.so' }],
    ['node', ['server.mjs'], { PATH: '.' }],
    ['./node', ['server.mjs']],
    ['node_modules/.bin/node', ['server.mjs']],
    ['./server', []],
    ['sh', ['-c', 'node server.mjs']],
    ['sh', ['server.sh']],
    ['bash', ['-c', "node 'server.mjs'"]],
    ['env', ['node', 'server.mjs']],
    ['npm', ['run', 'start']],
    ['npm', ['start']],
    ['npx', ['-y', 'a-server']],
    ['yarn', ['start']],
    ['pnpm', ['dlx', 'a-server']],
    ['bun', ['server.mjs']],
    ['bunx', ['a-server']],
    ['deno', ['run', 'server.mjs']],
    ['tsx', ['server.mjs']],
    ['python3', ['server.py']],
    ['python', ['-m', 'server']],
    ['uvx', ['a-server']],
    ['uv', ['run', 'server.py']],
    ['docker', ['run', 'a-server']],
    ['make', ['serve']],
  ])('does not remember %s %j %j', async (...form) => {
    const { fingerprint, why } = await ofServer(...form)
    expect(why).toEqual([expect.stringMatching(/^mcp\.servers\[0\]: \S.*/)])
    expect(fingerprint).toBeUndefined()
  })

  it.each([
    ...['sources', 'runs', 'calls', 'substitutes', 'backticks', 'path', 'evals', 'variable', 'quoted', 'exec'].map(
      (name) => `hooks/${name}.sh`,
    ),
    ...[
      'hooks/bare.mjs',
      'hooks/check.py',
      'python3 hooks/check.py',
      'hooks/check',
      'node hooks/plain.sh',
      "'hooks/plain.sh'",
      'hooks/none.sh',
    ],
  ])('does not remember the hook %s', async (script) => {
    const { fingerprint, why } = await load(`${provider}[callbacks]\nbefore_turn = "${script}"\n`)
    expect(why).toEqual([expect.stringMatching(/^callbacks\.before_turn: \S.*/)])
    expect(fingerprint).toBeUndefined()
  })

  it('does not remember a file if any of its scripts is unknown', async () => {
    const servers = ['server.mjs', '.'].map((arg, at) => `[[mcp.servers]]\nname = "s${at}"\ncommand = "${node}"\nargs = ["${arg}"]\n`)
    const { fingerprint, why } = await load(`${provider}${servers.join('')}`)
    expect(fingerprint).toBeUndefined()
    expect(why).toEqual([expect.stringContaining('mcp.servers[1]')])
  })
})
