import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directory, environment } from './command.ts'
import { calling, messagesText, modelServer } from './model-server.ts'
import { inTerminal, pty } from './terminal.ts'

const enter = '\r'
const ctrlC = '\x03'
const args = ['--model', 'openai/test', '--no-sandbox']

/** An answer that comes when the test says so. */
function gate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

describe.skipIf(pty === undefined)('phi in a terminal', () => {
  it('shows thinking, tools, an approval and markdown in the demo', async () => {
    const demo = inTerminal(['--demo'])
    await demo.shows('Allow? [y/N]')
    expect(demo.screen.text).toContain('-if [ "$sum" -gt 100 ]')
    expect(demo.screen.text).toContain('+if [ "$sum" -ge 100 ]')
    demo.type(`y${enter}`)
    await demo.shows('? bash wants to run:')
    await demo.shows(/Allow\? \[y\/N\] $/)
    expect(demo.screen.text).toMatch(/∴ thought \d+(\.\d+)?m?s {2}A check fails/)
    expect(demo.screen.text).toContain('✓ edit_file total.sh')
    expect(demo.screen.text).toContain('? bash wants to run:\n  sh check.sh')
    demo.type(`y${enter}`)
    // Live, while it runs.
    await demo.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] bash \d+m?s sh check\.sh\n {2}ok +2 3 makes 5/)
    await demo.shows('[done · 5 turns')
    expect(demo.screen.text).toContain('40 60  │ 90    │ ok')
    expect(demo.screen.text).toContain('4 of 4 checks pass.')
    expect(demo.screen.text).not.toContain('**')
    expect(demo.screen.hasColours).toBe(true)
    await demo.shows(/demo · \d+% · \$0\.\d+ › $/)
    demo.type(`/exit${enter}`)
    expect(await demo.ended).toBe(0)
    expect(demo.raw.lastIndexOf('\x1b[?2004l')).toBeGreaterThan(demo.raw.lastIndexOf('\x1b[?2004h'))
  })

  it('skips a rejected command and reports the reason to the model', async () => {
    const cwd = directory()
    const { env, asked } = await modelServer(({ attempt }) =>
      attempt < 3 ? calling('bash', { command: `touch ran-${attempt}` }) : { text: ['As you say.'] },
    )
    const phi = inTerminal(args, { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('touch ran-1\n')
    phi.type(enter)
    await phi.shows('touch ran-2\n')
    phi.type(`use make instead${enter}`)
    await phi.shows('As you say.')
    expect(readdirSync(cwd)).toEqual([])
    expect(asked.map(messagesText)[1]).toContain('denied this call')
    expect(asked.map(messagesText)[2]).toContain('use make instead')
  })

  it('ignores keys typed before an approval is shown', async () => {
    const cwd = directory()
    const { open, opened } = gate()
    const { env } = await modelServer(async ({ attempt }) => {
      if (attempt === 1) await opened
      return attempt === 1 ? calling('bash', { command: 'touch ran' }) : { text: ['fine'] }
    })
    const phi = inTerminal(args, { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('working')
    phi.type('y')
    await phi.shows('› y')
    open()
    await phi.shows('Allow? [y/N]')
    phi.type(enter)
    await phi.shows('fine')
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
    // What was typed is there again.
    await phi.shows(/› y$/)
  })

  it('sends text typed during a run as steering', async () => {
    const { open, opened } = gate()
    const { env, asked } = await modelServer(async ({ attempt }) => {
      if (attempt === 1) await opened
      return attempt === 1 ? calling('list_files', { path: '.' }) : { text: ['Shorter, then.'] }
    })
    const phi = inTerminal(args, { env: environment(env) })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('working')
    phi.type(`be brief${enter}`)
    await phi.shows('↪ be brief')
    open()
    await phi.shows('Shorter, then.')
    expect(messagesText(asked[1] ?? { model: '', messages: [], attempt: 0 })).toContain('be brief')
  })

  it('aborts the run on Ctrl-C and exits on the next one', async () => {
    const { env } = await modelServer(() => new Promise(() => undefined))
    const phi = inTerminal(args, { env: environment(env) })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('working')
    phi.type(ctrlC)
    await phi.shows('[aborted')
    phi.type('half a line')
    await phi.shows('› half a line')
    phi.type(ctrlC)
    await phi.shows(/› $/)
    phi.type(ctrlC)
    expect(await phi.ended).toBe(130)
  })

  it('exits immediately on a double Ctrl-C', async () => {
    const phi = inTerminal(['--demo'])
    await phi.shows('Allow? [y/N]')
    phi.type(ctrlC + ctrlC)
    expect(await phi.ended).toBe(130)
  })

  it('resumes the session after phi was killed', async () => {
    const { open, opened } = gate()
    const { env } = await modelServer(({ attempt }) => {
      if (attempt === 2) open()
      return attempt === 2 ? new Promise(() => undefined) : { text: [attempt === 1 ? 'I keep it in mind.' : 'It was 42.'] }
    })
    const shared = { env: environment(env), cwd: directory() }
    const killed = inTerminal(args, shared)
    await killed.shows('› ')
    killed.type(`The number is 42.${enter}`)
    await killed.shows('[done')
    killed.type(`What was it?${enter}`)
    await opened
    killed.kill('SIGKILL')
    await killed.ended
    const resumed = inTerminal([...args, '--resume'], shared)
    await resumed.shows(/Resumed session \S+, \d+ messages\./)
    resumed.type(`Well?${enter}`)
    await resumed.shows(/It was 42\.\n\[done/)
    resumed.type(`/tree${enter}`)
    await resumed.shows(/completed {2}1 turn .* The number is 42\.\n {2}interrupted .* What was it\?/)
    resumed.type(`/resume${enter}`)
    await resumed.shows(/ 1 {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}\d+ messages {2}The number is 42\./)
    resumed.type('\x04')
    expect(await resumed.ended).toBe(0)
  })

  it('reports a session that is open elsewhere and a takeover', async () => {
    const { env } = await modelServer(({ attempt }) => ({ text: [`Answer ${attempt}.`] }))
    const shared = { env: environment(env), cwd: directory() }
    const first = inTerminal(args, shared)
    await first.shows('› ')
    first.type(`The number is 42.${enter}`)
    await first.shows('[done')
    const second = inTerminal([...args, '--resume'], shared)
    await second.shows(`open in another phi, process ${first.pid}`)
    second.type(`What was it?${enter}`)
    await second.shows('Answer 2.')
    first.type(`Are you there?${enter}`)
    await first.shows(/took over.*\/resume/s)
    second.type(`/clear${enter}`)
    await second.shows('new session')
    first.type(`/resume 1${enter}`)
    await first.shows(/› What was it\?[\s\S]*end of history/)
    expect(first.screen.text).not.toContain('open in another phi')
    first.type(`And now?${enter}`)
    await first.shows('Answer 3.')
    first.kill('SIGKILL')
    await first.ended
    // Who was killed is nowhere.
    second.type(`/resume 1${enter}`)
    await second.shows(/› And now\?[\s\S]*end of history[\s\S]*session/)
    expect(second.screen.text.match(/open in another phi/g)).toHaveLength(1)
  })

  it('strips escape sequences from models, tools and approvals', async () => {
    const bad = '\x1b]0;pwned\x07\x1b[2J\x9b1m\u202e\x08'
    const cwd = directory()
    writeFileSync(join(cwd, 'bad.txt'), bad)
    const { env } = await modelServer(({ attempt }) => {
      if (attempt === 1) return calling('read_file', { path: 'bad.txt' })
      return attempt === 2 ? calling('bash', { command: `echo ${bad}` }) : { text: [`done ${bad}\n\n| ${bad} |\n\n`, `\`\`\`\n${bad}`] }
    })
    // The terminal of this test refuses every sequence it does not know.
    const phi = inTerminal(args, { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('echo \\u{1b}]0;pwned\\u{7}\\u{1b}[2J\\u{9b}1m\\u{202e}\\u{8}')
    phi.type(`n${enter}`)
    await phi.shows('[done')
    expect(phi.raw).not.toContain('\x1b]0;pwned')
  })

  it.each([
    ['lines', `touch ran${'\n'.repeat(200)}echo hello`],
    ['spaces', `touch ran;${' '.repeat(9000)}echo hello`],
  ])('warns of a command longer than the screen: many %s', async (_what, command) => {
    const { env } = await modelServer(({ attempt }) => (attempt === 1 ? calling('bash', { command }) : { text: ['ok'] }))
    const phi = inTerminal(args, { env: environment(env), cwd: directory() })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows(/\d+ rows do not fit on the screen/)
    phi.type(enter)
    await phi.shows('[done')
  })

  it('rejects a call too long to display without asking', async () => {
    const { env, asked } = await modelServer(({ attempt }) =>
      attempt === 1 ? calling('bash', { command: `echo ${'x'.repeat(30_000)}; touch ran` }) : { text: ['ok'] },
    )
    const cwd = directory()
    const phi = inTerminal([...args, '--yes'], { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('too many to read')
    await phi.shows('[done')
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
    expect(asked.map(messagesText)[1]).toContain('Shorten it')
  })

  it('prints markdown marks instead of colors with NO_COLOR', async () => {
    const { env } = await modelServer(() => ({ text: ['It is **bold**.'] }))
    const phi = inTerminal(args, { env: environment({ ...env, NO_COLOR: '1' }) })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('It is **bold**.')
    await phi.shows('[done')
    expect(phi.screen.hasColours).toBe(false)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour
    expect(phi.raw).not.toMatch(/\x1b\[[\d;]*m/)
  })

  it('accepts a paste of any size as one piece', async () => {
    const { env, asked } = await modelServer(() => ({ text: ['ok'] }))
    const phi = inTerminal(args, { env: environment(env) })
    await phi.shows('› ')
    const paste = Array.from({ length: 20_000 }, (_, at) => `line ${at}`).join('\n')
    phi.type(`see: \x1b[200~${paste}\x1b[201~`)
    await phi.shows('see: [paste 1: 20000 lines')
    expect(asked).toEqual([])
    phi.type(` end${enter}`)
    await phi.shows('[done')
    expect(asked[0]?.messages.at(-1)?.content).toBe(`see: ${paste} end`)
  })

  it('redraws correctly after the window is resized', async () => {
    const { open, opened } = gate()
    const { env } = await modelServer(async () => {
      await opened
      return { text: ['One.\n\n', `${'wide words '.repeat(30)}\n\n`, 'Two.'] }
    })
    const phi = inTerminal(args, { env: environment(env), columns: 60, rows: 12 })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('working')
    // Wider: the lines of before are not wrapped otherwise.
    phi.resize(200, 50)
    open()
    await phi.shows(/\[done.*\n.*› $/)
    const lines = phi.screen.text.split('\n')
    expect(lines.filter((line) => line === 'One.')).toHaveLength(1)
    expect(lines.filter((line) => line === 'Two.')).toHaveLength(1)
    expect(lines.filter((line) => line.includes('working'))).toEqual([])
    expect(lines.filter((line) => /test · .*› $/.test(line))).toHaveLength(1)
  })

  it('denies the approval when the terminal disappears', async () => {
    const cwd = directory()
    const { env } = await modelServer(({ attempt }) => (attempt === 1 ? calling('bash', { command: 'touch ran' }) : { text: ['ok'] }))
    const phi = inTerminal(args, { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('Allow? [y/N]')
    // Ctrl-D: the end of the input.
    phi.type('\x04')
    await phi.shows('was denied')
    expect(await phi.ended).toBe(0)
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
  })

  it('asks for approval with -p as well', async () => {
    const { env } = await modelServer(({ attempt }) => (attempt === 1 ? calling('bash', { command: 'echo ran' }) : { text: ['Done.'] }))
    const phi = inTerminal([...args, '-p', 'go'], { env: environment(env) })
    await phi.shows('Allow? [y/N]')
    phi.type(`y${enter}`)
    await phi.shows('Done.')
    expect(await phi.ended).toBe(0)
    expect(phi.screen.text).toContain('Exit code: 0')
  })
})

describe.skipIf(pty === undefined)('slash commands', () => {
  it('prints agent and session details, and exports the session', async () => {
    const { env } = await modelServer(({ attempt }) => ({ text: [`Answer ${attempt}.`] }))
    const cwd = directory()
    const phi = inTerminal(args, { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`/tree${enter}`)
    await phi.shows('This session is not stored yet. Send a message first.')
    phi.type(`first${enter}`)
    await phi.shows('[done')
    const said: [string, RegExp | string][] = [
      ['/help', 'Enter while the agent works'],
      ['/model', 'openai/test, 128.0k tokens of context, prices unknown'],
      ['/usage', /cost +unknown/],
      ['/model openai/gpt-5.1', 'openai/gpt-5.1, 400.0k tokens of context, $1.25 in, $10 out per million tokens'],
      ['/usage', /cost +\$0\.000\d/],
      ['/model groq/x', 'Set GROQ_API_KEY'],
      ['/thinking', 'thinking: off'],
      ['/thinking high', 'thinking: high'],
      ['/thinking deep', '"deep" is not a thinking level'],
      ['/tools', /bash +needs approval/],
      ['/usage', /total +29 tokens/],
      ['/compact', 'nothing to compact'],
      ['/session called so', 'called called so'],
      ['/tree', /completed {2}1 turn {2}29 tokens {2}first/],
      ['/export talk.md', /talk\.md, \d+ characters/],
      ['/export talk.md', 'it exists already'],
      ['/export talk.jsonl', /talk\.jsonl, /],
      ['/export', '## You\n\nfirst\n\n## phi\n\nAnswer 1.'],
      ['/skills', /\/skills\n {2}none/],
      ['/mcp', /\/mcp\n {2}none/],
      ['/clear', /new session \S+/],
      ['/resume 99', 'Session 99 is not in the list'],
      ['/resume', /called so/],
      ['/resume 1', /› first\nAnswer 1\.\n┄ end of history/],
      ['/nonsense', '/nonsense is not a command'],
    ]
    for (const [line, shown] of said) {
      phi.type(`${line}${enter}`)
      await phi.shows(shown)
    }
    expect(readFileSync(join(cwd, 'talk.md'), 'utf8')).toBe('## You\n\nfirst\n\n## phi\n\nAnswer 1.\n')
    expect(readFileSync(join(cwd, 'talk.jsonl'), 'utf8')).toContain('"format":"phi-core session"')
    phi.type('/qu\t')
    await phi.shows('› /quit')
    phi.type(enter)
    expect(await phi.ended).toBe(0)
  })

  it('rejects commands that change state during a run', async () => {
    const { env } = await modelServer(() => new Promise(() => undefined))
    const phi = inTerminal(args, { env: environment(env) })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('working')
    phi.type(`/clear${enter}/usage${enter}`)
    await phi.shows('/clear is not available while the agent works.')
    await phi.shows('unknown')
    phi.type(`/quit${enter}`)
    expect(await phi.ended).toBe(0)
  })
})
