import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { patient } from '../../../support/patience.ts'
import { directory, environment } from './command.ts'
import { type Asked, calling, modelServer } from './model-server.ts'
import { RecordedScreens } from './recorded-screen.ts'
import { inTerminal, pty, type Terminal } from './terminal.ts'

const args = ['--model', 'openai/test', '--no-sandbox']

/** What the model does when it is told something: calls, one after another, then words. */
const plays: Readonly<Record<string, { calls: [string, Record<string, unknown>][]; text: string }>> = {
  'what is here?': { calls: [['list_files', { path: '.' }]], text: 'Two files: `notes.md` and `total.sh`.' },
  'what does @total.sh do?': { calls: [['read_file', { path: 'total.sh' }]], text: 'It **adds** its arguments.' },
  'write a readme': { calls: [['write_file', { path: 'README.md', content: '# Totals\n\nAdds prices.\n' }]], text: 'Written.' },
  'rename the sum': {
    calls: [['edit_file', { path: 'total.sh', old_text: 'echo $sum', new_text: 'echo "Total: $sum"' }]],
    text: 'As you wish.',
  },
  'quote the sum': { calls: [['edit_file', { path: 'total.sh', old_text: 'echo $sum', new_text: 'echo "$sum"' }]], text: 'Quoted.' },
  'run it': { calls: [['bash', { command: 'sh total.sh 1 2' }]], text: 'It says 3.' },
  'run it again': {
    calls: [
      ['bash', { command: 'sh total.sh 3 4' }],
      ['bash', { command: 'sh total.sh 5 6' }],
    ],
    text: 'It says 7, and 11.',
  },
  'add a line': { calls: [['write_file', { path: 'notes.md', content: 'Buy milk.\nBuy bread.\n' }]], text: 'Added.' },
  'wait for me': { calls: [['list_files', { path: '.' }]], text: 'I have waited.' },
}

/** What was said last: what a person ran before it is in the same message. */
function lastLine(content: unknown): string {
  const texts = Array.isArray(content) ? content.map((part) => String(Object(part).text)) : [String(content)]
  return texts.join('\n').split('\n').at(-1) ?? ''
}

/** A service that plays what was said last, and waits for `open` where it is told to wait. */
async function service() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const heard: string[] = []
  const { env } = await modelServer(async ({ messages }: Asked) => {
    const at = messages.findLastIndex(({ role, content }) => role === 'user' && lastLine(content) in plays)
    const said = lastLine(messages.at(-1)?.role === 'user' ? messages.at(-1)?.content : messages[at]?.content)
    heard.push(said)
    const play = plays[said]
    if (said === 'think for long') return new Promise(() => undefined)
    if (play === undefined) return { text: ['I have heard you.'] }
    const done = messages.slice(at).filter(({ role }) => role === 'tool').length
    if (said === 'wait for me' && done === 0) await opened
    const next = play.calls[done]
    return next === undefined ? { text: [play.text] } : calling(...next)
  })
  /** Resolves when the model is asked about this. */
  const hears = (said: string) => vi.waitFor(() => expect(heard).toContain(said), patient)
  return { env, open: () => open(), hears }
}

function project(): string {
  const cwd = directory()
  writeFileSync(join(cwd, 'notes.md'), 'Buy milk.\n')
  writeFileSync(join(cwd, 'total.sh'), 'sum=0\nfor price in "$@"; do sum=$((sum + price)); done\necho $sum\n')
  return cwd
}

const done = /\[done[^\n]*\n[^\n]*› $/

/** Types, waits, and records. */
async function does(phi: Terminal, screens: RecordedScreens, title: string, keys: string, shown: RegExp | string = done): Promise<void> {
  // The end of the run before is no answer to this one.
  const before = phi.screen.text.split('[done').length
  phi.type(keys)
  await phi.shows(shown === done ? new RegExp(`(?:\\[done[\\s\\S]*){${before - 1}}\\[done[^\\n]*\\n[^\\n]*› $`) : shown)
  screens.step(title, phi)
}

describe.skipIf(pty === undefined)('a first session with phi', () => {
  it('completes twenty tasks at 80×24', async () => {
    const cwd = project()
    const editor = join(directory(), 'editor.sh')
    writeFileSync(editor, '#!/bin/sh\nsed -i \'s/Adds prices/Adds prices, from 100 on with 10 off/\' "$1"\n')
    chmodSync(editor, 0o755)
    const { env, open, hears } = await service()
    const shared = { env: environment({ ...env, EDITOR: editor }), cwd, columns: 80, rows: 24 }
    const screens = new RecordedScreens('test/fixtures/cli/first-day-80x24.txt', 24)
    const phi = inTerminal(args, shared)
    await phi.shows('› ')
    const step = (title: string, keys: string, shown?: RegExp | string) => does(phi, screens, title, keys, shown)
    await step('1. ask something', 'what is here?\r')
    await step('2. name a file', 'what does @tot', '@total.sh')
    await step('   and ask about it', '\tdo?\r')
    await step('3. see a change before it is made', 'write a readme\r', /Allow\? \[y\/N\] $/)
    await step('4. edit it first', 'e\r', /with your changes[\s\S]*10 off\.\n[^\n]*\n?Allow\? \[y\/N\] $/)
    await step('   and accept it', 'y\r')
    expect(readFileSync(join(cwd, 'README.md'), 'utf8')).toContain('from 100 on')
    await step('5. refuse a change, and say why', 'rename the sum\r', /\+echo "Total[\s\S]*Allow\? \[y\/N\] $/)
    await step('   the model is told', 'scripts read this output\r')
    await step('6. accept a change', 'quote the sum\r', /\+echo "\$sum"[\s\S]*Allow\? \[y\/N\] $/)
    await step('   it is made', 'y\r')
    await step('7. allow a command once', 'run it\r', /sh total\.sh 1 2\n[\s\S]*Allow\? \[y\/N\] $/)
    await step('   it runs', 'y\r')
    await step('8. allow commands like it for good', 'run it again\r', /sh total\.sh 3 4\n[\s\S]*Allow\? \[y\/N\] $/)
    await step('   both run', 'f sh total.sh *\r')
    await step('9. see what is allowed', '/permissions\r', /\(this folder\)\n[^\n]*› $/)
    await step('10. let files be changed without a question', '\x1b[Z', /edits · test · \d+% › $/)
    await step('    a change is shown all the same', 'add a line\r')
    await step('11. type several lines', 'first line\x1b\rsecond line', /› first line\n {2}second line$/)
    await step('    and send them', '\r')
    await step('12. run a command yourself', '!wc -l notes.md\r', / {2}2 notes\.md\n[^\n]*› $/)
    await step('13. find what you said', '\x12quote', /search: quote › quote the sum$/)
    await step('    and leave it', '\x1b[27u', /% › $/)
    await step('14. tell it something while it works', 'wait for me\r', 'working')
    await hears('wait for me')
    phi.type('be brief\r')
    await phi.shows('↪ be brief')
    open()
    await step('    it has heard it', '')
    await step('15. stop it', 'think for long\r', 'working')
    await hears('think for long')
    await step('    at once', '\x03', /\[aborted[^\n]*\n[^\n]*› $/)
    await step('16. see what was changed', '/diff\r', /\+Buy bread\.\n[^\n]*› $/)
    await step('17. take back what you said last', '/undo\r', /undone[^\n]*\n[^\n]*› think for long$/)
    await step('    twice, with an empty line', '\x15/undo\r', /undone[\s\S]*undone[\s\S]*› be brief$/)
    await step('18. see tokens and cost', '\x15/usage\r', /cost +unknown\n[^\n]*› $/)
    await step('19. take another model', '/model openai/gpt-5.1\r', /\$1\.25 in[^\n]*\n[^\n]*gpt-5\.1[^\n]*› $/)
    phi.type('\x04')
    expect(await phi.ended).toBe(0)
    const again = inTerminal([...args, '--resume'], shared)
    await again.shows(/Resumed session[^\n]*\n[^\n]*› $/)
    screens.step('20. go on the next day', again)
    again.type('\x04')
    expect(await again.ended).toBe(0)
    screens.compare()
  })

  it.each([
    [200, 50],
    [40, 15],
  ])('fits a terminal of %i×%i', async (columns, rows) => {
    const cwd = project()
    const { env } = await service()
    const screens = new RecordedScreens(`test/fixtures/cli/first-day-${columns}x${rows}.txt`, rows)
    const phi = inTerminal(args, { env: environment(env), cwd, columns, rows })
    await phi.shows('› ')
    await does(phi, screens, '1. ask something', 'what is here?\r')
    await does(phi, screens, '2. see a change', 'quote the sum\r', /Allow\? \[y\/N\] $/)
    await does(phi, screens, '3. make it', 'y\r')
    await does(phi, screens, '4. be asked about a command', 'run it\r', /Allow\? \[y\/N\] $/)
    await does(phi, screens, '5. allow it', 'y\r')
    await does(phi, screens, '6. see what was changed', '/diff\r', /\+echo "\$sum"\n[^\n]*› $/)
    phi.type('\x04')
    expect(await phi.ended).toBe(0)
    expect(existsSync(join(cwd, 'total.sh'))).toBe(true)
    screens.compare()
  })
})
