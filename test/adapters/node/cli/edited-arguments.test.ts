import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directory, environment } from './command.ts'
import { messagesText, playing } from './model-server.ts'
import { inTerminal, pty } from './terminal.ts'

const enter = '\r'

/** A terminal whose model calls `bash` with this command; the user is asked. */
async function asked(command: string) {
  const cwd = directory()
  const { env, asked } = await playing(['bash', { command }])
  const phi = inTerminal(['--model', 'openai/test', '--no-sandbox'], { env: environment(env), cwd })
  await phi.shows('› ')
  phi.type(`go${enter}`)
  await phi.shows('Allow? [y/N]')
  return { phi, cwd, asked }
}

describe.skipIf(pty === undefined)('editing the arguments of a call', () => {
  it('prompts for each argument and reports the edit to the model', async () => {
    const { phi, cwd, asked: requests } = await asked('touch theirs')
    phi.type(`e${enter}`)
    await phi.shows('command (text) [touch theirs]: ')
    phi.type(`touch ours${enter}`)
    await phi.shows(/touch ours\n[\s\S]*Run it with these arguments\? \[y\/N\]/)
    phi.type(`y${enter}`)
    await phi.shows('[done')
    expect([existsSync(join(cwd, 'ours')), existsSync(join(cwd, 'theirs'))]).toEqual([true, false])
    expect(requests.map(messagesText)[1]).toContain('The user changed the arguments')
  })

  it.each([
    ['escape', '\x1b'],
    ['a no at the end', `touch ours${enter}n${enter}`],
  ])('leaves the arguments as they are on %s', async (_, keys) => {
    const { phi, cwd } = await asked('touch theirs')
    phi.type(`e${enter}`)
    await phi.shows('command (text) [touch theirs]: ')
    phi.type(keys)
    await phi.shows('The arguments are unchanged.')
    phi.type(`y${enter}`)
    await phi.shows('[done')
    expect([existsSync(join(cwd, 'ours')), existsSync(join(cwd, 'theirs'))]).toEqual([false, true])
  })
})
