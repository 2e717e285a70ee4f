/** The commands of README and Getting started, in fresh folders, with packages of the npm registry. The packed tarball stands in for `phi-core`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { calling, messagesText, modelServer } from '../adapters/node/cli/model-server.ts'
import { blocksOf } from '../docs/snippets.ts'
import { otherNode } from '../harness/other-node.ts'
import { type Packed, pack, run } from '../harness/packed.ts'
import { newestNode, stranger } from './stranger.ts'

const folder = mkdtempSync(join(tmpdir(), 'phi-first-commands-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let packed: Packed = { tarball: '', files: [], size: 0 }
beforeAll(() => {
  packed = pack(folder)
}, 120_000)

const readme = readFileSync('README.md', 'utf8')
/** The pages of docs/start whose commands a newcomer pastes. */
const start = ['script', 'browser', 'terminal'].map((page) => readFileSync(`docs/start/${page}.md`, 'utf8')).join('\n')

/** The shell blocks of a page, in order, with the tarball in place of the package, and a key of OpenAI, whose service the tests play. */
function commandsOf(page: string): string[] {
  const blocks = blocksOf(page).filter(({ language }) => language === 'sh')
  return blocks.map(({ code }) =>
    code
      .replace('npm install phi-core\n', `npm install ${packed.tarball}\n`)
      .replace('ANTHROPIC_API_KEY=sk-ant-…', 'OPENAI_API_KEY=test-key'),
  )
}

/** The environment of a person with a key. The model calls `weather` if the question is about a coat, and then answers. */
async function withKey(): Promise<Record<string, string>> {
  const { env } = await modelServer((asked) => {
    const prompt = messagesText(asked)
    return prompt.includes('coat') && !prompt.includes('4 °C, rain') ? calling('weather', { city: 'Oslo' }) : { text: ['Yes, it rains.'] }
  })
  return { ...env }
}

/** What README says to replace in the program when there is no key. */
function withoutKey(program: string): string {
  const [, name, entry, from, to] = /[Ii]mport `(\w+)` from `([^`]+)`, and replace `([^`]+)` with `([^`]+)`/.exec(readme) ?? []
  if (name === undefined || entry === undefined || from === undefined || to === undefined)
    throw new Error('README names no scripted model.')
  expect(program).toContain(from)
  return `import { ${name} } from '${entry}'\n${program.replace(from, to)}`
}

describe.each([
  ['22.18.0', () => '22.18.0'],
  ['the newest', newestNode],
])('Node %s', (label, versionOf) => {
  it('runs the four install commands of the README in an empty folder', async (context) => {
    const node = otherNode(versionOf())
    if (node === undefined) return context.skip(`Node ${label} cannot be installed`)
    const [lines = ''] = commandsOf(readme)
    expect(lines.trim().split('\n')).toHaveLength(4)
    expect(lines).toContain(packed.tarball)
    const { shell } = stranger(folder, node, await withKey())
    expect(await shell(lines)).toMatch(/Yes, it rains\.$/)
    expect((await shell('node --version')).trim()).toBe(run(node, ['--version']).trim())
  })
})

it('runs the README program as main.mjs on Node 22.12, and names the missing key', async (context) => {
  const node = otherNode('22.12.0')
  if (node === undefined) return context.skip('Node 22.12.0 cannot be installed')
  const { shell } = stranger(folder, node)
  await shell(`npm init -y && npm install ${packed.tarball} && cp node_modules/phi-core/examples/first.ts main.mjs`)
  await expect(shell('node main.mjs')).rejects.toThrow('Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY in the environment')
  const program = withoutKey(await shell('cat main.mjs'))
  await shell(`cat > main.mjs <<'END'\n${program}\nEND`)
  expect(await shell('node main.mjs')).toBe('Yes.')
}, 600_000) // it ends a test that hangs: npm alone takes two minutes on a busy machine

/** The one command of these pages that contains `part`. */
function command(part: string): string {
  const found = commandsOf(start).filter((text) => text.includes(part))
  expect(found, part).toHaveLength(1)
  return found.join('')
}

it('runs the commands of docs/start and type-checks with the newest TypeScript', async (context) => {
  const node = otherNode(newestNode())
  if (node === undefined) return context.skip('The newest Node cannot be installed')
  const { OPENAI_BASE_URL = '' } = await withKey()
  const { shell } = stranger(folder, node, { OPENAI_BASE_URL })
  await shell(command('npm init'))
  await shell(command('typescript @types/node'))
  await shell(command('cp -r'))
  expect(await shell(command('node main.ts'))).toMatch(/Yes, it rains\.$/)

  const config = blocksOf(start).find(({ language }) => language === 'json')?.code ?? ''
  await shell(`cat > tsconfig.json <<'END'\n${config}END`)
  expect(await shell('npx tsc && npx tsc --version')).toBe(`Version ${run('npm', ['view', 'typescript@latest', 'version']).trim()}\n`)
  await shell(`cat > wrong.ts <<'END'\nprocess.exit('1' + true - 'a')\nEND`)
  await expect(shell('npx tsc')).rejects.toMatchObject({ stdout: expect.stringContaining('wrong.ts') })

  expect(await shell(command('phi --demo').replace('--demo', '--demo --yes'))).toContain('**4 of 4** checks pass.')
  expect(await shell(command('phi -p "'))).toContain('Yes, it rains.')
  expect(await shell('node examples/node/remember.ts')).toContain('I have read 1 messages.')
  // The rest of these lines serves until it is stopped.
  await shell(command('vite examples/browser').replace('npx vite examples', 'npx vite build examples'))
}, 600_000) // it ends a test that hangs: npm alone takes two minutes on a busy machine
