import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directory, environment, piped } from './command.ts'
import { messagesText, playing } from './model-server.ts'
import { inTerminal, pty } from './terminal.ts'

const enter = '\r'
const args = ['--model', 'openai/test', '--no-sandbox']

describe.skipIf(pty === undefined)('file change approval', () => {
  it('shows the changed words and applies the change after approval', async () => {
    const cwd = directory()
    writeFileSync(join(cwd, 'a.txt'), 'one\ntwo three four\nfive\n')
    const { env } = await playing(
      ['edit_file', { path: 'a.txt', old_text: 'two three four', new_text: 'two 3 four' }],
      ['write_file', { path: 'new/b.txt', content: 'made\n' }],
    )
    const phi = inTerminal(args, { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('edit_file wants to change:\n  a.txt  +1 -1\n  @@ -1,3 +1,3 @@\n   one\n  -two three four\n  +two 3 four\n   five\n')
    expect(phi.raw).toMatch(/\[7mthree/)
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toContain('three')
    phi.type(`y${enter}`)
    await phi.shows('write_file wants to create:\n  new/b.txt  +1 -0\n')
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toContain('two 3 four')
    expect(existsSync(join(cwd, 'new'))).toBe(false)
    phi.type(`y${enter}`)
    await phi.shows('[done')
    expect(readFileSync(join(cwd, 'new/b.txt'), 'utf8')).toBe('made\n')
  })

  it('rejects with a reason for the model, and if the file changed meanwhile', async () => {
    const cwd = directory()
    const file = join(cwd, 'a.txt')
    writeFileSync(file, 'mine\n')
    const { env, asked } = await playing(
      ['write_file', { path: 'a.txt', content: 'first\n' }],
      ['write_file', { path: 'a.txt', content: 'second\n' }],
    )
    const phi = inTerminal(args, { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('+first')
    phi.type(`keep it short${enter}`)
    await phi.shows('+second')
    writeFileSync(file, 'mine, and more\n')
    phi.type(`y${enter}`)
    await phi.shows('[done')
    expect(readFileSync(file, 'utf8')).toBe('mine, and more\n')
    expect(asked.map(messagesText)[1]).toContain('keep it short')
    expect(asked.map(messagesText)[2]).toContain('changed while the user reviewed')
  })

  it('lets the user edit the change first and reports that to the model', async () => {
    const cwd = directory()
    const editor = join(directory(), 'editor.sh')
    writeFileSync(editor, '#!/bin/sh\nsed -i s/theirs/ours/ "$1"\n')
    chmodSync(editor, 0o755)
    const { env, asked } = await playing(['write_file', { path: 'a.txt', content: 'theirs\n' }])
    const phi = inTerminal(args, { env: environment({ ...env, EDITOR: editor }), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('+theirs')
    phi.type(`e${enter}`)
    await phi.shows(/with your changes:\n[\s\S]*\+ours/)
    phi.type(`y${enter}`)
    await phi.shows('[done')
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('ours\n')
    expect(asked.map(messagesText)[1]).toContain('The user modified your edit')
  })

  it('escapes control sequences in names and text and marks binary content', async () => {
    const cwd = directory()
    writeFileSync(join(cwd, 'b.bin'), Buffer.from([0, 255, 1]))
    const bad = '\x1b]0;pwned\x07\x9b2J\u202e漢字e\u0301'
    const { env } = await playing(
      ['write_file', { path: `x${bad}.txt`, content: `${bad}\n` }],
      ['write_file', { path: 'b.bin', content: 'text\n' }],
    )
    // The terminal of this test refuses every sequence it does not know.
    const phi = inTerminal(args, { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('+\\u{1b}]0;pwned\\u{7}\\u{9b}2J\\u{202e}漢字e\u0301')
    phi.type(`n${enter}`)
    await phi.shows('wants to replace a binary file:')
    phi.type(`n${enter}`)
    await phi.shows('[done')
    expect(readFileSync(join(cwd, 'b.bin'))).toEqual(Buffer.from([0, 255, 1]))
  })

  it('limits the height of a diff on screen', async () => {
    const cwd = directory()
    const before = Array.from({ length: 30_000 }, (_, at) => `line ${at}`).join('\n')
    writeFileSync(join(cwd, 'a.txt'), before)
    const { env } = await playing(['write_file', { path: 'a.txt', content: before.replaceAll('line', 'row') }])
    const phi = inTerminal(args, { env: environment(env), cwd })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows(/a\.txt {2}\+30000 -30000/)
    await phi.shows('more lines')
    expect(phi.screen.text.split('\n').length).toBeLessThan(450)
    phi.type(`n${enter}`)
    await phi.shows('[done')
  })

  it('does not write through a link out of the directory', async () => {
    const [cwd, outside] = [directory(), directory()]
    symlinkSync(outside, join(cwd, 'link'))
    const { env, asked } = await playing(['write_file', { path: 'link/a.txt', content: 'x' }])
    const { stderr } = await piped([...args, '-p', 'go', '--yes'], { env: environment(env), cwd })
    expect(existsSync(join(outside, 'a.txt'))).toBe(false)
    expect(asked.map(messagesText)[1]).toMatch(/leads|outside|leaves/)
    expect(stderr).toContain('✗ write_file')
  })
})

describe.skipIf(pty === undefined)('calls that run without approval', () => {
  it('allows changes in mode edits and everything in mode all, switched by Shift-Tab', async () => {
    const cwd = directory()
    const { env } = await playing(
      ['write_file', { path: 'a.txt', content: 'made\n' }],
      ['bash', { command: 'echo asked' }],
      ['bash', { command: 'echo unasked' }],
    )
    const phi = inTerminal([...args, '--mode', 'edits'], { env: environment(env), cwd })
    await phi.shows('edits · test · ')
    phi.type(`go${enter}`)
    // Shown all the same.
    await phi.shows('a.txt  +1 -0\n')
    await phi.shows('bash wants to run:\n  echo asked')
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('made\n')
    phi.type('\x1b[Z')
    // The one that is on the screen still waits.
    phi.type(`n${enter}`)
    await phi.shows(/\[done[\s\S]*all · test/)
    expect(phi.screen.text).toMatch(/✓ bash echo unasked/)
    expect(phi.screen.text).not.toContain('wants to run:\n  echo unasked')
  })

  it('allows exact calls saved for the folder across restarts until removed', async () => {
    const shared = { cwd: directory() }
    const home = directory()
    const { env } = await playing(
      ['bash', { command: 'echo one' }],
      ['bash', { command: 'echo two' }],
      ['bash', { command: 'echo three; touch evil' }],
      ['bash', { command: 'echo $(touch evil)' }],
    )
    const environmentOf = environment({ ...env, PHI_HOME: home })
    const phi = inTerminal(args, { env: environmentOf, ...shared })
    await phi.shows('› ')
    phi.type(`go${enter}`)
    await phi.shows('f in this folder: bash echo one')
    phi.type(`f echo *${enter}`)
    await phi.shows('✓ bash echo two')
    await phi.shows('wants to run:\n  echo three; touch evil')
    phi.type(`a${enter}`)
    await phi.shows('wants to run:\n  echo $(touch evil)')
    phi.type(`n${enter}`)
    await phi.shows('[done')
    phi.type(`/permissions${enter}`)
    await phi.shows('1  bash echo three; touch evil  (this session)\n   2  bash echo *  (this folder)')
    phi.type(`/clear${enter}/permissions${enter}`)
    await phi.shows(/new session[\s\S]*\n {3}1 {2}bash echo \* {2}\(this folder\)/)
    phi.type('\x04')
    await phi.ended

    const next = inTerminal(args, { env: environmentOf, ...shared })
    await next.shows('› ')
    next.type(`/permissions remove 1${enter}`)
    await next.shows('no rules')
    next.type('\x04')
    await next.ended
    expect(readFileSync(findRules(home), 'utf8')).not.toContain('echo')
  })

  it('ignores saved rules for untrusted agent files, whatever their tool names', async () => {
    const cwd = directory()
    const env = environment((await playing(['bash', { command: 'touch ran' }])).env)
    const kept = {
      phi: [
        { tool: 'bash', begins: '' },
        { tool: 'bash', is: 'touch ran' },
      ],
    }
    await piped(['--demo', '--version'], { env, cwd })
    const place = join(
      env.PHI_HOME ?? '',
      'projects',
      `${basename(cwd)}-${createHash('sha256').update(realpathSync(cwd)).digest('hex').slice(0, 16)}`,
    )
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'permissions.json'), JSON.stringify(kept))
    const provider = `[provider]\nmodel = "test"\napi = "openai_completions"\nbase_url = "${env.OPENAI_BASE_URL}"\napi_key = "k"\n`
    writeFileSync(join(cwd, 'agent.toml'), `${provider}[tools]\nenabled = ["bash"]\n`)
    const strange = await piped(['--config', 'agent.toml', '--trust', '--no-sandbox', '-p', 'go'], { env, cwd })
    expect(strange.stderr).toContain('there is no terminal to approve it')
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
    const again = environment({ ...(await playing(['bash', { command: 'touch ran' }])).env, PHI_HOME: env.PHI_HOME ?? '' })
    await piped([...args, '-p', 'go'], { env: again, cwd })
    expect(existsSync(join(cwd, 'ran'))).toBe(true)
  })

  it('ignores permission files in the workspace', async () => {
    const cwd = directory()
    const rules = JSON.stringify({ phi: [{ tool: 'bash', begins: '' }] })
    for (const name of ['permissions.json', '.phi/permissions.json']) {
      mkdirSync(join(cwd, '.phi'), { recursive: true })
      writeFileSync(join(cwd, name), rules)
    }
    const { env, asked } = await playing(['bash', { command: 'touch ran' }])
    await piped([...args, '-p', 'go'], { env: environment(env), cwd })
    expect(asked.map(messagesText)[1]).toContain('denied')
    // Nor where phi was told to keep its things in the workspace, in which tools write.
    const inside = environment({ ...env, PHI_HOME: join(cwd, 'home') })
    const phi = inTerminal(args, { env: inside, cwd })
    await phi.shows('› ')
    phi.type(`/permissions${enter}`)
    await phi.shows('no rules')
  })
})

/** Where the rules of the only project of a home are. */
function findRules(home: string): string {
  const [name = ''] = readdirSync(join(home, 'projects'))
  return join(home, 'projects', name, 'permissions.json')
}
