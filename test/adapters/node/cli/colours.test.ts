import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type CodePiece, coloursOf } from '../../../../adapters/node/cli/render/code-colours.ts'
import { loadColours, MarkdownLines } from '../../../../adapters/node/cli/render/markdown.ts'
import { type Painted, type Painter, withoutAnswers } from '../../../../adapters/node/cli/terminal/paint.ts'
import { runs } from '../../../support/runs.ts'
import { environment, piped } from './command.ts'
import { modelServer } from './model-server.ts'
import { inTerminal, pty } from './terminal.ts'

const names = [
  'ts',
  'js',
  'json',
  'py',
  'rust',
  'go',
  'c',
  'java',
  'bash',
  'html',
  'xml',
  'css',
  'scss',
  'sql',
  'yaml',
  'toml',
  'diff',
  'ruby',
  'swift',
  'lua',
  'dockerfile',
  'kotlin',
  'scala',
  'less',
]

const endlessTime = { leftMs: Number.POSITIVE_INFINITY }
const textOf = (pieces: readonly CodePiece[]): string => pieces.map(({ text }) => text).join('')

/** What is painted in a style stands in its name. */
const marking: Painter = {
  hasColours: true,
  paint: (style, text) => `<${String(style)}>${text}</>` as Painted,
  plain: (text) => text as Painted,
}

function shown(markdown: string, painter = marking): string {
  const lines = new MarkdownLines(painter, () => 80)
  return [...lines.push(markdown), ...lines.end()].join('\n')
}

describe('syntax highlighting of code', () => {
  it('colors keywords, strings and comments across lines', async () => {
    await loadColours(marking)
    const code = shown('```ts title="x"\nconst a = "b" // c\n/* more\nthan */ return 1\n```\n')
    expect(code).toBe(
      '  <magenta>const</> <blue>a</> = <green>"b"</> <dim,italic>// c</>\n  <dim,italic>/* more</>\n  <dim,italic>than */</> <magenta>return</> <yellow>1</>'.replaceAll(
        ' <',
        ' <',
      ),
    )
    expect(shown('```nonsense\nconst a\n```\n')).toBe('<cyan>  const a</>')
    expect(shown('```__proto__\nconst a\n```\n')).toBe('<cyan>  const a</>')
  })

  it('preserves the exact text of any code', () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom(
        '/*',
        '*/',
        '"',
        "'",
        '`',
        '${',
        '}',
        '{',
        '(',
        ')',
        '<',
        '</',
        '>',
        '#',
        '//',
        '\\',
        '"""',
        '<<EOF',
        'EOF',
        '\t',
        '=',
        ':',
        '-',
        'function ',
        'class ',
        '<script>',
        '@',
      ),
    )
    const line = fc.array(piece, { maxLength: 20 }).map((parts) => parts.join('').replaceAll('\n', ' '))
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(line, { maxLength: 12 }), (name, lines) => {
        const colours = coloursOf(name, endlessTime)
        for (const each of lines) expect(textOf(colours?.line(each) ?? [])).toBe(each)
      }),
      { numRuns: runs(100, 20_000) },
    )
  })

  it('stays fast with 10,000 lines and with very long lines', () => {
    for (const name of names) {
      const colours = coloursOf(name, endlessTime)
      for (let at = 0; at < (name === 'ts' ? 10_000 : 1000); at += 1) {
        const line = `const name${at} = { "a": [${'('.repeat(at % 40)}${at}] } // <b a='1'>`
        expect(textOf(colours?.line(line) ?? [])).toBe(line)
      }
      const endless = '((((" <'.repeat(20_000)
      expect(textOf(coloursOf(name, endlessTime)?.line(endless) ?? [])).toBe(endless)
    }
  })
})

describe('highlighting adversarial responses', () => {
  it('stops highlighting after a time limit but keeps the text', async () => {
    await loadColours(marking)
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 10
      return now
    })
    onTestFinished(() => clock.mockRestore())
    const block = `\`\`\`js\n${'return 1 + 2\n'.repeat(30)}\`\`\`\n`
    const [first = '', second = ''] = shown(`${block}A line.\n${block}`).split('A line.')
    expect(first).toContain('<magenta>return</>')
    expect(second).toBe(`\n${'  return 1 + 2\n'.repeat(30).trimEnd()}`)
  })

  it('stays fast with 1 MB of unclosed code and with 1 MB lines', async () => {
    await loadColours(marking)
    const opened = `${'q{{(${'.repeat(160)}\n`.repeat(1000)
    expect(shown(`\`\`\`js\n${opened}`).length).toBeGreaterThan(opened.length)
    for (const line of [`# a${' '.repeat(1_000_000)}x`, `# a${' #'.repeat(500_000)}x`, '[a]('.repeat(250_000), '*a '.repeat(300_000)])
      expect(shown(`${line}\n`).replaceAll(/\s|<[^>]*>/g, '')).toContain('a')
  })

  it('resumes prose formatting after code, even in an incomplete line', async () => {
    await loadColours(marking)
    const lines = new MarkdownLines(marking, () => 80)
    lines.push('```ts\nconst a = 1\n```\nSome **bold** wor')
    expect(lines.pending()).toEqual(['Some <bold>bold</> wor'])
  })
})

describe('terminal background detection', () => {
  it.each([
    ['\x1b]11;rgb:ffff/ffff/ffff\x07', [true]],
    ['\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\', [false]],
    ['\x1b]11;rgba:f/f/e/f\x07', [true]],
    ['\x1b]11;nonsense\x07', []],
    ['hello', []],
  ])("parses the terminal's reply %j", (text, expected) => {
    const told: boolean[] = []
    withoutAnswers(`a${text}b`, (isLight) => told.push(isLight))
    expect(told).toEqual(expected)
  })

  it.skipIf(pty === undefined)('does not treat the response as a key and selects the colors', async () => {
    const { env } = await modelServer(() => ({ text: ['```ts\nconst a = 1\n```\n'] }))
    const phi = inTerminal(['--model', 'openai/test', '--no-sandbox'], { env: environment({ ...env, FORCE_COLOR: '1' }) })
    await phi.shows('› ')
    phi.type('first\r')
    await phi.shows('[done')
    expect(phi.raw).toContain('\x1b[33m1\x1b[39m')
    // In two pieces, as a slow line brings it.
    phi.type('\x1b]11;rgb:ffff/')
    phi.type('ffff/ffff\x1b\\second\r')
    await phi.shows(/› second\n[\s\S]*\[done/)
    expect(phi.raw).toContain('\x1b[35m1\x1b[39m')
    phi.type('\x04')
    expect(await phi.ended).toBe(0)
  })

  it('prints plain text without a terminal or with NO_COLOR', async () => {
    const text = '```ts\nconst a = 1\n```\n'
    const { env } = await modelServer(() => ({ text: [text] }))
    const { stdout } = await piped(['--model', 'openai/test', '--no-sandbox', '-p', 'x'], { env: environment(env) })
    expect(stdout).toBe(text)
    if (pty === undefined) return
    const phi = inTerminal(['--model', 'openai/test', '--no-sandbox'], { env: environment({ ...env, NO_COLOR: '1' }) })
    await phi.shows('› ')
    phi.type('first\r')
    await phi.shows('[done')
    expect(phi.screen.hasColours).toBe(false)
    expect(phi.raw).not.toContain('\x1b]11')
    expect(phi.screen.text).toContain('```ts\n  const a = 1\n```')
  })
})
