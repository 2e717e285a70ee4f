import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { docExamples, prelude } from './doc-examples.ts'
import { type Block, blocksOf, pages } from './snippets.ts'

const folder = resolve('.vitest/snippets')
const program = /^(?:ts|tsx|js|jsx|mjs)$/

/** The programs of a page: each block is one, except that a page which shows `file#imports` goes on with that file block by block. */
function programsOf(page: string): Map<string, string> {
  const blocks = blocksOf(readFileSync(page, 'utf8')).filter(({ language }) => program.test(language))
  const goesOn = ({ source = '' }: Block) => blocks.some((other) => other.source === `${source.split('#')[0]}#imports`)
  const programs = new Map<string, string>()
  for (const block of blocks) {
    const { source = '', language, line, code } = block
    const name = `${page.replaceAll(/[/.]/g, '-')}-${goesOn(block) ? source.replaceAll(/[/.]|#.*/g, '-') : line}.${language}`
    programs.set(name, `${programs.get(name) ?? jsxOf(code)}${atHome(code, source, blocks)}`)
  }
  return programs
}

/** Stands for the `jsx` setting of a reader's project. */
const jsxOf = (code: string): string => (/from 'react'/.test(code) ? '/** @jsxImportSource react */\n' : '')

/** A file beside it may be imported where the page shows that file too. */
const atHome = (code: string, source: string, blocks: Block[]): string =>
  code.replace(/from '(\.[^']+)'/g, (whole, path: string) => {
    const file = join(dirname(source), path).replaceAll('\\', '/')
    return blocks.some((other) => other.source === file) ? `from '${resolve(file)}'` : whole
  })

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'))
  const paths = Object.entries<string[]>(compilerOptions.paths).map(([name, places]) => [name, places.map((place) => resolve(place))])
  const tsconfig = {
    extends: resolve('tsconfig.json'),
    compilerOptions: { paths: Object.fromEntries(paths), rewriteRelativeImportExtensions: false },
    include: ['*'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('compiles every documented program unchanged', async () => {
  const programs = new Map(pages().flatMap((page) => [...programsOf(page)]))
  expect(programs.size).toBeGreaterThan(100)
  for (const [name, code] of programs) writeFileSync(join(folder, name), `${code}\nexport {}\n`)
  const examples = docExamples()
  expect(examples.size).toBeGreaterThan(50)
  for (const [name, code] of examples) writeFileSync(join(folder, name), code)
  writeFileSync(join(folder, 'prelude.ts'), prelude)
  const output = await promisify(execFile)('tsc', ['-p', folder]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
  expect(output.split('\n').filter((line) => line.includes('error TS'))).toEqual([])
}, 120_000)
