import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { patient } from '../../../support/patience.ts'
import { directory, environment, program } from './command.ts'
import { modelServer } from './model-server.ts'
import { inTerminal, pty } from './terminal.ts'

const enter = '\r'
const args = ['--model', 'openai/test', '--no-sandbox']

/** A phi whose service answers `ok`, and what was said to it. */
async function opened(options: { env?: Record<string, string>; cwd?: string } = {}) {
  const { env, asked } = await modelServer(() => ({ text: ['ok'] }))
  const phi = inTerminal(args, { env: environment({ ...env, ...options.env }), cwd: options.cwd ?? directory() })
  await phi.shows('› ')
  const said = () =>
    asked
      .at(-1)
      ?.messages.filter(({ role }) => role === 'user')
      .map(({ content }) => content)
  return { phi, said }
}

describe.skipIf(pty === undefined)('the input line', () => {
  it('accepts multi-line input from any terminal', async () => {
    const { phi, said } = await opened()
    // Ctrl-J, Alt-Enter, a backslash, Shift-Enter of kitty and of xterm.
    phi.type(`a\nb\x1b\rc\\${enter}d\x1b[13;2ue\x1b[27;2;13~f`)
    await phi.shows(/› a\n {2}b\n {2}c\n {2}d\n {2}e\n {2}f$/)
    // A line up and to its beginning, by keys of kitty as well: Ctrl-A is 97;5.
    phi.type('\x1b[A\x1b[97;5u>')
    await phi.shows(/ {2}>e\n {2}f/)
    phi.type(enter)
    await phi.shows('ok')
    expect(said()).toEqual(['a\nb\nc\nd\n>e\nf'])
  })

  it('edits by whole characters, words and lines', async () => {
    const { phi, said } = await opened()
    // Left over an emoji of several code points and a combined letter, then back over them.
    phi.type('x👩‍👩‍👧e\u0301y\x1b[D\x7f\x7f')
    await phi.shows(/› xy$/)
    phi.type('\x1b[H\x0bone two three\x17\x17\x19')
    await phi.shows(/› one two $/)
    phi.type('\x1bb\x1bb\x0b\x19!\x01\x1b[3~')
    await phi.shows(/› ne two !$/)
    phi.type(enter)
    await phi.shows('ok')
    expect(said()).toEqual(['ne two !'])
  })

  it('completes commands and files, best match first', async () => {
    const cwd = directory()
    for (const folder of ['src/deep', 'node_modules/x']) mkdirSync(join(cwd, folder), { recursive: true })
    for (const path of ['src/deep/total.sh', 'src/to-all.ts', 'node_modules/x/total.sh', 'a b total.md']) writeFileSync(join(cwd, path), '')
    const { phi } = await opened({ cwd })
    phi.type('see @total')
    await phi.shows(/ {2}@src\/deep\/total\.sh\s*\n {2}@"a b total\.md"\s*\n[^\n]*see @total$/)
    phi.type('\t')
    await phi.shows(/see @src\/deep\/total\.sh $/)
    phi.type('\t')
    await phi.shows(/see @"a b total\.md" $/)
    phi.type('\x15/perm\t')
    await phi.shows(/› \/permissions $/)
  })

  it('recalls history with arrows and Ctrl-R, even after a restart', async () => {
    const home = directory()
    const cwd = directory()
    const { phi } = await opened({ env: { PHI_HOME: home }, cwd })
    for (const line of ['the first', 'a second', '/usage']) {
      phi.type(`${line}${enter}`)
      await phi.shows(line === '/usage' ? 'total' : /\[done[\s\S]*› $/)
    }
    phi.type('\x04')
    await phi.ended
    const again = await opened({ env: { PHI_HOME: home }, cwd })
    again.phi.type('draft\x1b[A\x1b[A')
    await again.phi.shows(/› a second$/)
    again.phi.type('\x1b[B\x1b[B')
    await again.phi.shows(/› draft$/)
    again.phi.type('\x12fir')
    await again.phi.shows(/search: fir › the first$/)
    again.phi.type(enter)
    await again.phi.shows(/0% › the first$/)
    again.phi.type(enter)
    await again.phi.shows('ok')
    expect(again.said()).toEqual(['the first'])
  })

  it('keeps the input in place during repeated resizes', async () => {
    const { phi, said } = await opened()
    phi.type('one two three\nfour')
    await phi.shows(/› one two three\n {2}four$/)
    for (let at = 0; at < 120; at += 1) phi.resize(20 + ((at * 37) % 180), 5 + ((at * 13) % 40))
    phi.resize(100, 40)
    phi.type(' five\r')
    await phi.shows('ok')
    expect(said()).toEqual(['one two three\nfour five'])
  })

  it('runs a command after ! and reports the output to the model', async () => {
    const { phi, said } = await opened()
    phi.type(`!echo typed; exit 3${enter}`)
    await phi.shows(/bash echo typed; exit 3 .*\n[\s\S]*typed/)
    phi.type(`why?${enter}`)
    await phi.shows('ok')
    expect(JSON.stringify(said())).toContain('I ran this command myself:\\n$ echo typed; exit 3')
  })

  it('restores the terminal mode while an external editor is open', async () => {
    const home = directory()
    const editor = join(home, 'editor.sh')
    writeFileSync(editor, `#!/bin/sh\nstty -a < /dev/tty > ${home}/mode\nread answer < /dev/tty\necho "$answer from the editor" >> "$1"\n`)
    chmodSync(editor, 0o755)
    const { phi } = await opened({ env: { VISUAL: editor } })
    phi.type('begun \x07')
    await vi.waitFor(() => expect(readFileSync(join(home, 'mode'), 'utf8')).toMatch(/ icanon/), patient)
    phi.type('some words\n')
    await phi.shows(/› begun \n? *some words from the editor$/)
    // Raw again, and pastes are told.
    phi.type('\x1b[200~a\nb\x1b[201~')
    await phi.shows('[paste 1: 2 lines')
  })
})

/** How a process stands, by the system. */
const stateOf = (pid: number): string => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? ''

describe.skipIf(pty === undefined || process.platform !== 'linux')('the terminal mode', () => {
  it('restores the terminal on Ctrl-Z and resumes with fg', async () => {
    const { env } = await modelServer(() => ({ text: ['ok'] }))
    const cwd = directory()
    const shell = inTerminal(['--norc', '--noprofile', '-i'], {
      file: '/bin/bash',
      cwd,
      env: { ...environment(env), TERM: 'dumb', PS1: '$ ' },
    })
    await shell.shows('$ ')
    shell.type(`TERM=xterm-256color ${process.execPath} ${program} ${args.join(' ')}\n`)
    await shell.shows(/ask · test · 0% › $/)
    shell.type('half a line\x1a')
    await shell.shows(/Stopped[\s\S]*\$ $/)
    shell.type('stty -a | grep -o " icanon"\n')
    await shell.shows(/\n icanon\n\$ $/)
    shell.type('fg\n')
    await shell.shows(/› half a line$/)
    shell.type(' \x1b[200~a\nb\x1b[201~')
    await shell.shows('[paste 1: 2 lines')
    shell.type('\x03\x03')
    await shell.shows(/\n\$ $/)
    shell.type('stty -a | grep -o " icanon" && exit\n')
    await shell.ended
    expect(shell.raw.lastIndexOf('\x1b[?2004l')).toBeGreaterThan(shell.raw.lastIndexOf('\x1b[?2004h'))
  })

  it('continues if the system does not stop the process', async () => {
    // Nobody could continue it: the terminal has no shell.
    const { phi } = await opened()
    phi.type('a\x1ab')
    await phi.shows(/› ab$/)
    phi.type('\x1b[200~x\ny\x1b[201~')
    await phi.shows('ab[paste 1: 2 lines')
    expect(stateOf(phi.pid)).not.toBe('T')
  })

  it('redraws after it was stopped and continued from outside', async () => {
    const { phi } = await opened()
    phi.kill('SIGSTOP')
    await vi.waitFor(() => expect(stateOf(phi.pid)).toBe('T'), patient)
    const before = phi.raw.length
    phi.kill('SIGCONT')
    await vi.waitFor(() => expect(phi.raw.slice(before)).toContain('\x1b[?2004h'), patient)
    phi.type('\x1b[200~x\ny\x1b[201~')
    await phi.shows('[paste 1: 2 lines')
  })
})
