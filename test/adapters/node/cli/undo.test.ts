import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directory, environment, piped } from './command.ts'
import { playing } from './model-server.ts'
import { inTerminal, pty, type Terminal } from './terminal.ts'

const enter = '\r'
const args = ['--model', 'openai/test', '--no-sandbox']

describe.skipIf(pty === undefined)('undo of changes', () => {
  it('shows changes with /diff and reverts them with /undo, also after resuming', async () => {
    const cwd = directory()
    const file = join(cwd, 'a.txt')
    writeFileSync(file, 'one\n')
    const { env, asked } = await playing(
      ['write_file', { path: 'a.txt', content: 'two\n' }],
      ['write_file', { path: 'b.txt', content: 'new\n' }],
    )
    const shared = { env: environment(env), cwd }
    const first = inTerminal([...args, '--mode', 'edits'], shared)
    await first.shows('› ')
    first.type(`change them${enter}`)
    await first.shows('[done')
    first.type('\x04')
    await first.ended

    const phi = inTerminal([...args, '--resume'], shared)
    await phi.shows(/› change them\n✓ write_file a\.txt[\s\S]*ok 3\n┄ end of history/)
    phi.type(`/diff${enter}`)
    await phi.shows(/a\.txt {2}\+1 -1\n[\s\S]*-one\n {2}\+two\n {2}b\.txt {2}\+1 -0/)
    phi.type(`/undo${enter}`)
    await phi.shows(/undone: 6 messages; restored: b\.txt, a\.txt\n[\s\S]*› change them$/)
    expect(readFileSync(file, 'utf8')).toBe('one\n')
    expect(existsSync(join(cwd, 'b.txt'))).toBe(false)
    phi.type(`, both${enter}`)
    await phi.shows('ok 4')
    expect(asked[3]?.messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['change them, both'])
    phi.type('\x04')
    await phi.ended

    // What was taken back stays so.
    const last = inTerminal([...args, '--resume'], shared)
    await last.shows(/› change them, both\nok 4\n┄ end of history/)
    expect(last.screen.text).not.toContain('ok 3')
  })

  it('sends a command-line prompt first and keeps the cost after /undo', async () => {
    const { env, asked } = await playing()
    const phi = inTerminal([...args, 'fix the bug'], { env: environment(env), cwd: directory() })
    await phi.shows('[done')
    expect(asked[0]?.messages.at(-1)?.content).toBe('fix the bug')
    const totals = async () => {
      phi.type(`\x15/usage${enter}`)
      await phi.shows(/cost +\S+\n[^\n]*› $/)
      return /^ +input +(\S+)/m.exec(phi.screen.text.slice(phi.screen.text.lastIndexOf('/usage')))?.[1]
    }
    const before = await totals()
    phi.type(`/undo${enter}`)
    await phi.shows(/undone[\s\S]*› fix the bug$/)
    expect(before).toMatch(/^[1-9]/)
    expect(await totals()).toBe(before)
  })

  it('counts the cost of reverted messages after --resume and /resume', async () => {
    const { env } = await playing()
    const shared = { env: environment(env), cwd: directory() }
    const priced = ['--model', 'openai/gpt-5.1', '--no-sandbox']
    const totals = async (phi: Terminal) => {
      phi.type(`\x15/usage${enter}`)
      await phi.shows(/\/usage\n(?:(?!\/usage)[\s\S])*cost +\$\S+\n[^\n]*› $/)
      const shown = phi.screen.text.slice(phi.screen.text.lastIndexOf('/usage'))
      return [/^ +input +(\S+)/m.exec(shown)?.[1], /^ +output +(\S+)/m.exec(shown)?.[1], /^ +cost +(\S+)/m.exec(shown)?.[1]]
    }
    const first = inTerminal([...priced, 'fix the bug'], shared)
    await first.shows('[done')
    const spentOnOne = await totals(first)
    first.type(`/undo${enter}`)
    await first.shows(/undone[\s\S]*› fix the bug$/)
    first.type(` well${enter}`)
    await first.shows(/ok 2[\s\S]*\[done/)
    const spent = await totals(first)
    first.type('\x04')
    await first.ended

    const resumed = inTerminal([...priced, '--resume'], shared)
    await resumed.shows('Resumed session')
    const afterStart = await totals(resumed)
    const afterCommand = async () => {
      resumed.type(`/clear${enter}`)
      await resumed.shows('new session')
      resumed.type(`/resume 1${enter}`)
      await resumed.shows(/› \/resume 1[\s\S]*ok 2[\s\S]*› $/)
      return totals(resumed)
    }
    expect(spent).not.toEqual(spentOnOne)
    expect({ afterStart, afterCommand: await afterCommand() }).toEqual({ afterStart: spent, afterCommand: spent })
  })

  it('keeps files that another program changed afterwards', async () => {
    const cwd = directory()
    const file = join(cwd, 'a.txt')
    const { env } = await playing(['write_file', { path: 'a.txt', content: 'two\n' }])
    const phi = inTerminal([...args, '--mode', 'edits'], { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('[done')
    writeFileSync(file, 'mine\n')
    phi.type(`/undo${enter}`)
    await phi.shows('a.txt was not restored: it has changed since.')
    expect(readFileSync(file, 'utf8')).toBe('mine\n')
  })

  it('lists single-prompt sessions separately and lets --resume ask for a choice', async () => {
    const { env } = await playing()
    const shared = { env: environment(env), cwd: directory() }
    await piped([...args, '-p', 'a single question'], shared)
    for (const said of ['talk one', 'talk two']) {
      const phi = inTerminal(args, shared)
      await phi.shows('› ')
      phi.type(`${said}${enter}`)
      await phi.shows('[done')
      phi.type('\x04')
      await phi.ended
    }
    const phi = inTerminal([...args, '--resume'], shared)
    await phi.shows(/ 1 .*talk two.*\n 2 .*talk one.*\none-shot prompts:\n 3 .*a single question.*\nWhich session\? \[1\] $/)
    phi.type(`2${enter}`)
    await phi.shows('› talk one')
    phi.type('\x04')
    expect(await phi.ended).toBe(0)
  })
})
