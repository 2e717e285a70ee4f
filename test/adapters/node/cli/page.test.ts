import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { usage } from '../../../../adapters/node/cli/args.ts'
import { blocksOf } from '../../../docs/snippets.ts'
import { inTerminal, pty } from './terminal.ts'

const page = readFileSync('docs/reference/cli.md', 'utf8')
/** The first block of plain text on a page. */
const textOf = (markdown: string): string => blocksOf(markdown).find(({ language }) => language === 'text')?.code ?? ''

/** Without what differs from run to run: times, the name of the directory, tokens and cost; and without the note of a machine that has no sandbox. */
const steady = (text: string): string =>
  text
    .replace(/^Commands run without a sandbox.*\n/m, '')
    .replace(/phi-demo-\w+/g, 'phi-demo-x')
    .replace(/\S*\/phi-demo-x/g, '/tmp/phi-demo-x')
    .replace(/\b\d+(\.\d+)?m?s\b/g, '1s')
    .replace(/\b\d+(\.\d+)?k tokens/g, '1k tokens')
    .replace(/\$0\.\d+/g, '$0.01')
    .replace(/· \d+% ·/g, '· 1% ·')
    .trimEnd()

it.skipIf(pty === undefined)('documents the output of phi --demo', async () => {
  const demo = inTerminal(['--demo'], { columns: 90 })
  await demo.shows('Allow? [y/N]')
  demo.type('y\r')
  await demo.shows(/sh check\.sh\n[\s\S]*Allow\? \[y\/N\] $/)
  demo.type('y\r')
  await demo.shows(/\[done · 5 turns.*\n.*› $/)
  expect(steady(demo.screen.text)).toBe(steady(textOf(readFileSync('docs/start/terminal.md', 'utf8'))))
})

it('documents the output of phi --help', () => expect(textOf(page)).toBe(usage))

it('documents every slash command', () => {
  const names = [
    'help',
    'quit',
    'exit',
    'clear',
    'model',
    'thinking',
    'tools',
    'usage',
    'compact',
    'session',
    'resume',
    'tree',
    'export',
    'save',
    'permissions',
    'diff',
    'undo',
    'models',
    'open',
    'skills',
    'mcp',
  ]
  expect(names.filter((name) => !page.includes(`\`/${name}`))).toEqual([])
})
