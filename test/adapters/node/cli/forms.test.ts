import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directory, environment, piped } from './command.ts'
import { calling, modelServer } from './model-server.ts'
import { inTerminal, pty } from './terminal.ts'

const enter = '\r'

/** A project whose agent has one tool, which asks. */
async function project() {
  const { env, asked } = await modelServer(({ attempt }) => (attempt % 2 === 1 ? calling('desk__book', {}) : { text: ['It is done.'] }))
  const cwd = directory()
  const server = resolve('test/adapters/node/cli/asking-server.mjs')
  writeFileSync(
    join(cwd, 'agent.toml'),
    `
[provider]
model = "test"
api = "openai_completions"
base_url = "${env.OPENAI_BASE_URL}"
api_key = "k"
[[mcp.servers]]
name = "desk"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(server)}]`,
  )
  /** What the tool was answered, the last time. */
  const answer = () =>
    /answered (\{.*?\})"/.exec(JSON.stringify(asked.at(-1)?.messages.at(-1)).replaceAll('\\"', "'"))?.[1]?.replaceAll("'", '"')
  return { cwd, env: environment(env), answer: () => JSON.parse(answer() ?? 'null') }
}

const args = ['--config', 'agent.toml', '--trust']

describe.skipIf(pty === undefined)('user input requests in a terminal', () => {
  it('shows a form field by field and submits it after confirmation', async () => {
    const { cwd, env, answer } = await project()
    const phi = inTerminal(args, { cwd, env })
    await phi.shows('› ')
    phi.type(`book${enter}`)
    await phi.shows('? desk__book asks:\n  Which table?')
    await phi.shows('name (text) [Ada]: ')
    expect(phi.screen.text).toContain('In whose name?')
    phi.type(enter)
    await phi.shows('guests (a whole number): ')
    phi.type(`many${enter}`)
    await phi.shows('Enter a whole number')
    phi.type(`0${enter}`)
    await phi.shows('Enter at least 1.')
    phi.type(`3${enter}`)
    await phi.shows('window (y or n, optional): ')
    phi.type(enter)
    await phi.shows(/2 {2}Fish [\s\S]*meal \(a number\): /)
    phi.type(`7${enter}`)
    await phi.shows('Enter a number from 1 to 2.')
    phi.type(`2${enter}`)
    await phi.shows('extras (numbers, separated by commas, optional): ')
    phi.type(`1, 3${enter}`)
    await phi.shows('Send it? [y/N]')
    phi.type(`y${enter}`)
    await phi.shows('It is done.')
    expect(answer()).toEqual({ action: 'accept', content: { name: 'Ada', guests: 3, meal: 'fish', extras: ['bread', 'cake'] } })
  })

  it.each([
    ['escape', '\x1b', 'cancel'],
    ['Ctrl-C', '\x03', 'cancel'],
    ['a no at the end', `${enter}2${enter}${enter}1${enter}${enter}n${enter}`, 'decline'],
  ])('submits nothing and continues the run on %s', async (_name, keys, action) => {
    const { cwd, env, answer } = await project()
    const phi = inTerminal(args, { cwd, env })
    await phi.shows('› ')
    phi.type(`book${enter}`)
    await phi.shows('name (text) [Ada]: ')
    phi.type('Eve')
    await phi.shows(': Eve')
    phi.type(keys)
    await phi.shows('It is done.')
    expect(answer()).toEqual({ action })
  })

  it('shows the form with -p as well', async () => {
    const { cwd, env, answer } = await project()
    const phi = inTerminal([...args, '-p', 'book'], { cwd, env })
    await phi.shows('name (text) [Ada]: ')
    phi.type('\x1b')
    expect(await phi.ended).toBe(0)
    expect(answer()).toEqual({ action: 'cancel' })
  })
})

describe('user input requests without a terminal', () => {
  it('declines the request and prints a notice', async () => {
    const { cwd, env, answer } = await project()
    const { code, stderr } = await piped([...args, '-p', 'book'], { cwd, env })
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('desk__book requested input. Declined')
    expect(answer()).toEqual({ action: 'decline' })
  })
})
