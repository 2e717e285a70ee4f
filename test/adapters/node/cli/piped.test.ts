import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directory, environment, piped } from './command.ts'
import { calling, messagesText, modelServer } from './model-server.ts'

const asking = ['--model', 'openai/test', '-p', 'Go on.']

describe('phi through pipes', () => {
  it('prints only the response to standard output', async () => {
    const { env, asked } = await modelServer(({ attempt }) =>
      attempt === 1 ? { ...calling('list_files', { path: '.' }), text: ['I look.'] } : { text: ['It is **done**.'] },
    )
    const { stdout, stderr, code } = await piped(asking, { env: environment(env), input: 'the log' })
    expect(stdout).toBe('It is **done**.\n')
    expect(stderr).toContain('I look.')
    expect(stderr).toContain('✓ list_files .')
    expect(code).toBe(0)
    expect(messagesText(asked[0] ?? { model: '', messages: [], attempt: 0 })).toContain('Go on.\\n\\n<stdin>\\nthe log\\n</stdin>')
  })

  it('uses piped input as the prompt if there is no other', async () => {
    const { env, asked } = await modelServer(() => ({ text: ['Yes.'] }))
    const { stdout } = await piped(['--model', 'openai/test'], { env: environment(env), input: 'Is it?' })
    expect(stdout).toBe('Yes.\n')
    expect(asked[0]?.messages.at(-1)?.content).toBe('Is it?')
  })

  it.each([[['fix the bug']], [['fix', 'the', 'bug']], [['--mode', 'edits', 'fix the bug']]])(
    'sends %j like a prompt after -p',
    async (words) => {
      const { env, asked } = await modelServer(() => ({ text: ['Fixed.'] }))
      const { stdout, stderr } = await piped(['--model', 'openai/test', ...words], { env: environment(env), input: 'the log' })
      expect(stdout, stderr).toBe('Fixed.\n')
      expect(asked[0]?.messages.at(-1)?.content).toBe('fix the bug\n\n<stdin>\nthe log\n</stdin>')
    },
  )

  it('warns if the resumed session has lost data', async () => {
    const { env } = await modelServer(() => ({ text: ['Yes.'] }))
    const shared = { cwd: directory(), env: environment(env) }
    expect((await piped(asking, shared)).code).toBe(0)
    const home = shared.env.PHI_HOME ?? ''
    const logs = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((path) => /log\.\d+$/.test(path))
    for (const log of logs) {
      const lines = readFileSync(join(home, log), 'utf8').split('\n')
      writeFileSync(join(home, log), [...lines.slice(0, -2), '{"half a rec', lines.at(-2), ''].join('\n'))
    }
    expect(logs).not.toEqual([])
    const { stderr } = await piped([...asking, '--resume'], shared)
    expect(stderr).toContain('sessionDamaged')
  })

  it('prints every event as a JSON line', async () => {
    const { env } = await modelServer(() => ({ text: ['a \u001b[2J\u009b1m\u202e\u{e0041} b'] }))
    const { stdout, stderr, code } = await piped([...asking, '--json'], { env: environment(env) })
    expect(code, stderr).toBe(0)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come through
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u{e0041}]/u)
    const events: { type: string; status?: string; messages?: { content: unknown }[]; message?: { content: unknown[] } }[] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events[0]?.type).toBe('agentStart')
    expect(events.at(-1)).toMatchObject({ type: 'agentEnd', status: 'completed' })
    expect(JSON.stringify(events.at(-1)?.messages)).toContain(JSON.stringify('a \u001b[2J\u009b1m\u202e\u{e0041} b').slice(1, -1))
  })

  it('strips cursor control sequences from model and tool output', async () => {
    const bad = '\u001b]0;pwned\u0007\u001b[2J\u009b1m\u202e\r\b'
    const cwd = directory()
    writeFileSync(join(cwd, 'bad.txt'), bad)
    const { env } = await modelServer(({ attempt }) =>
      attempt === 1 ? { ...calling('read_file', { path: 'bad.txt', note: bad }), text: [bad] } : { text: [`done ${bad}`] },
    )
    const { stdout, stderr } = await piped(asking, { env: environment({ ...env, FORCE_COLOR: '0' }), cwd })
    expect(stdout).toContain('done \\u{1b}]0;pwned\\u{7}\\u{1b}[2J\\u{9b}1m\\u{202e}')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come through
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
  })

  it('denies approvals without a terminal and grants them with --yes', async () => {
    const answer = ({ attempt }: { attempt: number }) => (attempt % 2 === 1 ? calling('bash', { command: 'echo ran' }) : { text: ['ok'] })
    const { env, asked } = await modelServer(answer)
    const no = await piped([...asking, '--no-sandbox'], { env: environment(env) })
    expect(no.stderr).toContain('Use --yes to allow all calls')
    expect(no.stderr).not.toContain('Exit code: 0')
    expect(JSON.stringify(asked[1])).toContain('denied')
    const yes = await piped([...asking, '--no-sandbox', '--yes'], { env: environment(env) })
    expect(yes.stderr).toContain('Exit code: 0')
    expect(JSON.stringify(asked[3])).toContain('ran')
  })

  it('accepts invalid UTF-8 with a warning', async () => {
    const { env, asked } = await modelServer(() => ({ text: ['ok'] }))
    const { stderr, code } = await piped(asking, { env: environment(env), input: Buffer.from([0x61, 0xff, 0xfe, 0x62]) })
    expect(code).toBe(0)
    expect(stderr).toContain('not valid UTF-8')
    expect(JSON.stringify(asked[0])).toContain('a\ufffd\ufffdb')
  })

  it('accepts large input and rejects input too large for any model', async () => {
    const { env, asked } = await modelServer(() => ({ text: ['ok'] }))
    const large = 'x'.repeat(300_000)
    expect((await piped(asking, { env: environment(env), input: large })).code).toBe(0)
    expect(JSON.stringify(asked[0]).length).toBeGreaterThan(300_000)
    const { code, stderr } = await piped(asking, { env: environment(env), input: 'x'.repeat(9_000_000) })
    expect([code, asked.length]).toEqual([2, 1])
    expect(stderr).toContain('8 MiB')
  })

  it('exits silently if the output pipe closes', async () => {
    const { env } = await modelServer(({ attempt }) =>
      attempt === 1 ? calling('list_files', { path: '.' }) : { text: ['x\n'.repeat(50_000)] },
    )
    const { code, stderr } = await piped([...asking, '--json'], {
      env: environment(env),
      watch: (_so, child) => child.stdout?.destroy(),
    })
    expect(stderr).not.toMatch(/EPIPE|Error/)
    expect(code).not.toBe(2)
  })

  it.skipIf(!existsSync('/dev/full'))('reports a lost response and fails if it cannot be written', async () => {
    for (const words of [['--demo', '-p', 'hi'], ['--demo', '--json', '-p', 'hi'], ['--version']]) {
      const { code, stderr } = await piped(words, { stdout: '/dev/full' })
      expect([words, code]).toEqual([words, 1])
      expect(stderr).toContain('ENOSPC')
    }
  })

  it('exits with 130 on an interrupt and with 1 on a model failure', async () => {
    const { env } = await modelServer(({ attempt }) =>
      attempt === 1 ? calling('list_files', { path: '.' }) : new Promise(() => undefined),
    )
    let hasInterrupted = false
    const interrupted = await piped(asking, {
      env: environment(env),
      watch: ({ stderr }, child) => {
        if (hasInterrupted || !stderr.includes('list_files')) return
        hasInterrupted = child.kill('SIGINT')
      },
    })
    expect(interrupted.code).toBe(130)
    expect(interrupted.stderr).toContain('[aborted')
    const failed = await piped(asking, { env: environment({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }) })
    expect(failed.code).toBe(1)
    expect(failed.stdout).toBe('')
    expect(failed.stderr).toContain('[failed')
  }, 60_000)

  it('respects NO_COLOR and FORCE_COLOR', async () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour
    const colour = /\u001b\[\d+m/
    expect((await piped(['--demo'], { env: environment({ FORCE_COLOR: '1' }) })).stderr).toMatch(colour)
    expect((await piped(['--demo'], { env: environment({ NO_COLOR: '1' }) })).stderr).not.toMatch(colour)
    expect((await piped(['--demo'])).stderr).not.toMatch(colour)
  })
})

describe('phi --demo through pipes', () => {
  it('fixes its project and prints the actual results', async () => {
    const allowed = await piped(['--demo', '--yes'])
    expect(allowed.code, allowed.stderr).toBe(0)
    expect(allowed.stdout).toContain('**4 of 4** checks pass.')
    expect(allowed.stdout).toContain('| 40 60 | 90 | ok |')
    const denied = await piped(['--demo'])
    expect(denied.code).toBe(0)
    expect(denied.stdout).toContain('you did not allow it')
  })
})

it('removes its project regardless of how the demo ends', async () => {
  const roots: string[] = []
  const note = ({ stdout }: { stdout: string }) => {
    const root = /"(\/[^"]*phi-demo-\w+)/.exec(stdout)?.[1]
    if (root !== undefined) roots.push(root)
    return root
  }
  await piped(['--demo', '--json', '-p', 'x'], { watch: (so, child) => note(so) && child.kill('SIGINT') })
  await piped(['--demo', '--json', '--yes'], { watch: note })
  expect(roots.filter((root) => existsSync(root))).toEqual([])
})

describe('invalid command-line arguments', () => {
  const cases: [string[], string][] = [
    [['--modell', 'x'], '--modell ("x") is not an option. Did you mean --model?'],
    [['-q'], '-q (true) is not an option.'],
    [['--modle', 'x'], '--modle ("x") is not an option. Did you mean --model?'],
    [['docter'], '"docter" is not a command. Did you mean phi doctor?'],
    [['docter', 'now'], '"docter" is not a command. Did you mean phi doctor?'],
    [['serve', 'hello'], '"hello" is not an option.'],
    [['-p', 'a', 'b'], 'Two prompts were given'],
    [['--demo', 'fix it'], '--demo has its own prompt'],
    [[' '], 'The prompt is empty.'],
    [['team/agent.toml'], '"team/agent.toml" is not a command. For an agent file: phi --config FILE.'],
    [['-p'], '--print needs a value.'],
    [['-p', ' '], '--print needs a prompt after it.'],
    [['--model', ''], '--model is empty.'],
    [['--json=yes'], '--json takes no value.'],
    [['--thinking', 'deep'], '--thinking is "deep"; it must be "off"'],
    [['--yes', '--yes'], '--yes is set twice.'],
    [['--demo', '--model', 'a/b'], 'Remove --model.'],
    [['-p', 'x', '--model', 'claude'], '"claude" is not a model. Write provider/model'],
    [['-p', 'x', '--model', 'nobody/x'], 'Unknown provider "nobody"'],
    [['-p', 'x', '--model', 'anthropic/x'], 'Set ANTHROPIC_API_KEY'],
    [['-p', 'x', '--model', 'groq/x'], 'Set GROQ_API_KEY'],
    [['-p', 'x'], 'No model is configured.'],
    [['-p', 'x', '--model', 'ollama/x', '--resume'], 'This directory has no session'],
    [['--json', '--model', 'ollama/x'], 'The prompt is missing'],
    [['--\u001b[2Jx'], '--\\u{1b}[2Jx'],
  ]
  it.each(cases)('rejects the arguments %j', async (args, words) => {
    const { code, stdout, stderr } = await piped(args)
    expect(stderr).toContain(`phi: `)
    expect(stderr).toContain(words)
    expect([code, stdout]).toEqual([2, ''])
  })

  it('prints help and version to standard output', async () => {
    const help = await piped(['--help'])
    expect([help.code, help.stderr]).toEqual([0, ''])
    expect(help.stdout).toContain('--no-sandbox')
    expect((await piped(['-V'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
