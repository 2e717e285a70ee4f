import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { remoteSession } from '../../../../src/client.ts'
import { directory, environment, piped, program } from './command.ts'
import { calling, messagesText, modelServer } from './model-server.ts'
import { placeOf } from './served-place.ts'
import { inTerminal, pty } from './terminal.ts'

/** A project with an agent file, which reads its prompt from outside of the project. */
async function project(more = '', answer: Parameters<typeof modelServer>[0] = () => ({ text: ['From the file.'] })) {
  const { env, asked } = await modelServer(answer)
  const cwd = directory()
  const prompt = join(directory(), 'gardener.md')
  writeFileSync(prompt, 'You are a gardener.')
  const text = `
[agent]
system_prompt = "file:${prompt}"
[provider]
model = "test"
api = "openai_completions"
base_url = "${env.OPENAI_BASE_URL}"
api_key = "\${OPENAI_API_KEY}"
${more}`
  writeFileSync(join(cwd, 'agent.toml'), text)
  return { cwd, asked, text, env: environment(env) }
}

describe('phi --config', () => {
  it('does not load an untrusted file without a terminal and suggests --trust', async () => {
    const { cwd, env, asked } = await project()
    const refused = await piped(['--config', 'agent.toml', '-p', 'hi'], { cwd, env })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('--trust')
    expect(asked).toEqual([])
    const trusted = await piped(['--config', 'agent.toml', '--trust', '-p', 'hi'], { cwd, env })
    expect(trusted.stdout, trusted.stderr).toBe('From the file.\n')
    expect(JSON.stringify(asked)).toContain('You are a gardener.')
    // What a command line trusted once is not trusted from then on.
    expect((await piped(['--config', 'agent.toml', '-p', 'hi'], { cwd, env })).code).toBe(2)
  })

  it('passes the context from the file and --context only to plugins', async () => {
    const { cwd, env, text, asked } = await project()
    const table = '[agent.context]\ntenant = "acme"\ntoken = "${ORDERS_TOKEN}"\n'
    writeFileSync(
      join(cwd, 'agent.toml'),
      text.replace('[agent]', '[agent]\nplugins = ["./show.mjs"]').replace('[provider]', `${table}[provider]`),
    )
    writeFileSync(
      join(cwd, 'show.mjs'),
      `export default ({ definePlugin }) => definePlugin({ name: 'show', begin: ({ context }) => (console.error(JSON.stringify(context)), {}) })`,
    )
    const flags = ['--config', 'agent.toml', '--trust', '--context', 'region=eu', '--context', 'token=$OTHER_TOKEN', '--json', '-p', 'hi']
    const made = await piped(flags, { cwd, env: { ...env, ORDERS_TOKEN: 'tok-file', OTHER_TOKEN: 'tok-flag' } })
    expect(made.stderr).toContain(JSON.stringify({ tenant: 'acme', token: 'tok-flag', region: 'eu' }))
    expect([made.stdout, JSON.stringify(asked)].join()).not.toMatch(/tok-/)
    const unset = await piped(flags, { cwd, env: { ...env, ORDERS_TOKEN: 'tok-file' } })
    expect([unset.code, unset.stderr]).toEqual([expect.any(Number), expect.stringContaining('OTHER_TOKEN')])
    expect((await piped(['--context', 'tenant', '-p', 'hi'], { cwd, env })).stderr).toContain('--context needs NAME=VALUE')
  })

  it('loads the plugins of a trusted file', async () => {
    const { cwd, env, text } = await project()
    writeFileSync(join(cwd, 'agent.toml'), text.replace('[agent]', '[agent]\nplugins = ["./plugins/shout.mjs"]'))
    mkdirSync(join(cwd, 'plugins'))
    writeFileSync(
      join(cwd, 'plugins/shout.mjs'),
      `console.error('loaded')
export default ({ definePlugin }) => definePlugin({ name: 'shout', begin: () => ({ delta: ({ text }) => text.toUpperCase() }) })`,
    )
    const refused = await piped(['--config', 'agent.toml', '-p', 'hi'], { cwd, env })
    expect(refused.code).toBe(2)
    expect(refused.stderr).not.toContain('loaded')
    const trusted = await piped(['--config', 'agent.toml', '--trust', '-p', 'hi'], { cwd, env })
    expect(trusted.stdout, trusted.stderr).toBe('FROM THE FILE.\n')
    writeFileSync(join(cwd, 'agent.toml'), text.replace('[agent]', '[agent]\nplugins = ["./none.mjs"]'))
    const missing = await piped(['--config', 'agent.toml', '-p', 'hi'], { cwd, env })
    expect(missing.stderr).toContain('The plugin "./none.mjs" cannot be loaded: the file')
  })

  it('shows the output and report of a background sub-agent', async () => {
    const more = '[[sub_agents.instances]]\nname = "reader"\ndescription = "Reads."\nbackground = true\n'
    const { cwd, env } = await project(more, (request) => {
      const said = messagesText(request)
      if (!said.includes('Have it read.')) return { text: ['It is about bees.'] }
      if (said.includes('It is about bees.')) return { text: ['Bees.'] }
      return said.includes('Started in the background') ? { text: ['I wait.'] } : calling('reader', { task: 'Read a.md.' })
    })
    const { stdout, stderr, code } = await piped(['--config', 'agent.toml', '--trust', '-p', 'Have it read.'], { cwd, env })
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('Bees.')
    expect(stderr).toMatch(/✓ reader-1 Read a\.md\./)
    expect(stderr).toContain('It is about bees.')
  })

  it('reports that a client tool has no client, but runs it when served', async () => {
    const more = `
[[provider.instances]]
id = "{{deep}}"
model = "deeper"
api = "openai_completions"
base_url = "BASE"
api_key = "\${OPENAI_API_KEY}"
[[client_tools.instances]]
name = "set_theme"
description = "Sets the colours of the page."
parameters = { type = "object", properties = { theme = { enum = ["light", "dark"] } }, required = ["theme"] }
[choices.models]
deep = "{{provider.deep}}"
`
    const { cwd, env, asked, text } = await project(more, (request) => {
      if (messagesText(request).includes('Think.')) return { text: [`From ${request.model}.`] }
      const result = request.messages.find(({ role }) => role === 'tool')
      return result === undefined ? calling('set_theme', { theme: 'dark' }) : { text: [`The page said: ${result.content}`] }
    })
    writeFileSync(join(cwd, 'agent.toml'), text.replace('BASE', env.OPENAI_BASE_URL ?? ''))
    const alone = await piped(['--config', 'agent.toml', '--trust', '-p', 'Make it dark.'], { cwd, env })
    expect(alone.stderr).toContain('set_theme is a browser tool. A terminal cannot run this tool')
    expect(alone.stdout).toContain('The page said: No client is available to run this tool.')

    const child = spawn(process.execPath, [program, 'serve', '--config', 'agent.toml', '--trust'], {
      ...{ cwd, env, stdio: ['ignore', 'pipe', 'inherit'] },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const link = await new Promise<string>((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())))
    const { origin, token } = placeOf(link)
    const session = remoteSession({ url: `${origin}/agent`, sessionId: 's', headers: { authorization: `Bearer ${token}` }, logger: false })
    onTestFinished(() => session.close())
    session.tools({ set_theme: ({ theme }) => `${theme} it is` })
    expect(await session.prompt('Make it dark.').text()).toBe('The page said: dark it is')
    expect(asked.at(-1)?.model).toBe('test')
    expect(await session.prompt('Think.', { model: 'deep' }).text()).toBe('From deeper.')
    expect(asked.at(-1)?.model).toBe('deeper')
    await expect(session.prompt('Think.', { model: 'huge' }).text()).rejects.toMatchObject({ code: 'choiceNotAllowed' })
  })

  it.skipIf(pty === undefined)('asks for trust once per file and content', async () => {
    const { cwd, env, text, asked } = await project()
    const first = inTerminal(['--config', 'agent.toml'], { cwd, env })
    await first.shows('Trust this file in its current state? [y/N]')
    expect(first.screen.text).toMatch(/read \S+gardener\.md/)
    first.type('\r')
    expect(await first.ended).toBe(2)
    const second = inTerminal(['--config', 'agent.toml'], { cwd, env })
    await second.shows('[y/N]')
    second.type('y\r')
    await second.shows('› ')
    second.type('hi\r')
    await second.shows('From the file.')
    second.type('/exit\r')
    expect(await second.ended).toBe(0)
    expect((await piped(['--config', 'agent.toml', '-p', 'hi'], { cwd, env })).stdout).toBe('From the file.\n')
    // Another text is another file.
    writeFileSync(join(cwd, 'agent.toml'), `${text}\n# changed`)
    expect((await piped(['--config', 'agent.toml', '-p', 'hi'], { cwd, env })).code).toBe(2)
    expect(asked).toHaveLength(2)
  })

  it.skipIf(pty === undefined)('lists all trust requests, most dangerous first, with invisible characters escaped', async () => {
    const server =
      '[[mcp.servers]]\nname = "a"\ncommand = "ls"\nenv = { "BASH_FUNC_ls%%" = "() { evil; }", API_KEY = "l\\u00AD\\u3164it" }\n'
    const { cwd, env } = await project(`[callbacks]\nbefore_turn = "check.sh"\n${server}`)
    writeFileSync(join(cwd, 'check.sh'), 'exit 0')
    const phi = inTerminal(['--config', 'agent.toml'], { cwd, env })
    await phi.shows('[y/N]')
    const shown = phi.screen.text.replace(/\s+/g, ' ')
    expect(shown).toMatch(
      /wants 3 things: 1\. start .*BASH_FUNC_ls%%="\(\) \{ evil; \}" API_KEY=l\\u\{ad\}\\u\{3164\}it ls .* 2\. run .* 3\. read .* 3 entries in all, 2 of them dangerous: they run programs with all your permissions\. /,
    )
    phi.type('\r')
    expect(await phi.ended).toBe(2)
  })

  it.skipIf(pty === undefined)('ignores keys typed before the trust prompt is shown', async () => {
    const { cwd, env, asked } = await project('[[mcp.servers]]\nname = "far"\nurl = "https://mcp.test/"\n')
    const phi = inTerminal(['--config', 'agent.toml'], { cwd, env })
    phi.type('y\ry')
    // The terminal has it.
    await phi.shows(/^y$/m)
    await phi.shows('Trust this file in its current state? [y/N]')
    expect(phi.screen.text).toContain('https://mcp.test/')
    phi.type('\r')
    expect(await phi.ended).toBe(2)
    expect(asked).toEqual([])
  })

  it.skipIf(pty === undefined)('asks again if a program changed or moved', async () => {
    const { cwd, env } = await project('[callbacks]\nbefore_turn = "check.sh"\n')
    const script = join(cwd, 'check.sh')
    writeFileSync(script, 'exit 0')
    const first = inTerminal(['--config', 'agent.toml'], { cwd, env })
    await first.shows('[y/N]')
    first.type('y\r')
    await first.shows('› ')
    first.type('/exit\r')
    expect(await first.ended).toBe(0)
    const ask = (at: string) => piped(['--config', join(cwd, 'agent.toml'), '-p', 'hi'], { cwd: at, env })
    expect((await ask(cwd)).code).toBe(0)
    // As a tool of the agent may, without a question.
    writeFileSync(script, 'touch ran')
    expect((await ask(cwd)).code).toBe(2)
    writeFileSync(script, 'exit 0')
    expect((await ask(cwd)).code).toBe(0)
    // The script of another directory is another script, whatever is in it now.
    const other = directory()
    writeFileSync(join(other, 'check.sh'), 'exit 0')
    expect((await ask(other)).code).toBe(2)
  })

  it.skipIf(pty === undefined)('asks every time if the loaded files cannot be known', async () => {
    const { cwd, env } = await project('[callbacks]\nbefore_turn = "check.sh"\n')
    writeFileSync(join(cwd, 'check.sh'), 'sh other.sh')
    for (const _time of ['first', 'second']) {
      const phi = inTerminal(['--config', 'agent.toml'], { cwd, env })
      await phi.shows('[y/N]')
      expect(phi.screen.text.replace(/\s+/g, ' ')).toMatch(
        /not remembered.*callbacks\.before_turn: it may run more than its text says \("sh"\)/,
      )
      phi.type('y\r')
      await phi.shows('› ')
      phi.type('/exit\r')
      expect(await phi.ended).toBe(0)
    }
    expect((await piped(['--config', 'agent.toml', '-p', 'hi'], { cwd, env })).code).toBe(2)
  })

  it.skipIf(pty === undefined)('runs nothing that changed during the trust prompt', async () => {
    const { cwd, env } = await project('[callbacks]\nbefore_loop = "check.sh"\n')
    writeFileSync(join(cwd, 'check.sh'), 'exit 0')
    const phi = inTerminal(['--config', 'agent.toml'], { cwd, env })
    await phi.shows('[y/N]')
    writeFileSync(join(cwd, 'check.sh'), 'echo > ran')
    phi.type('y\r')
    await phi.shows('changed after')
    expect(await phi.ended).toBe(2)
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
  })

  it.skipIf(pty === undefined).each([
    ['before_turn = "nowhere.sh"', 'callbacks.before_turn: Cannot use "nowhere.sh" as a script: there is no such file.'],
    ['before_task = "check.sh"', 'callbacks.before_task is not supported in a file'],
    ['on_error = "plugin::function"', 'callbacks.on_error'],
  ])('rejects [callbacks] with %s before the trust prompt', async (line, text) => {
    const { cwd, env } = await project(`[callbacks]\n${line}\n`)
    const phi = inTerminal(['--config', 'agent.toml'], { cwd, env })
    expect(await phi.ended).toBe(2)
    const shown = phi.screen.text.replace(/\s+/g, ' ')
    expect(shown).toContain(text)
    expect(shown).not.toContain('[y/N]')
  })

  it('lists the agents in a file that it does not run', async () => {
    const { cwd, env } = await project('[[agent.instances]]\nname = "weeder"\n')
    const { code, stderr } = await piped(['--config', 'agent.toml', '--trust', '-p', 'hi'], { cwd, env })
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('weeder')
  })

  it.skipIf(pty === undefined)('stores its conversations and lists skills and warnings', async () => {
    const { cwd, env } = await project('[skills]\npaths = ["skills"]\n[tools]\nenabled = ["read_file"]\nstrat = 1\n')
    mkdirSync(join(cwd, 'skills', 'pruning'), { recursive: true })
    writeFileSync(join(cwd, 'skills', 'pruning', 'SKILL.md'), '---\nname: pruning\ndescription: How to prune roses.\n---\nCut.\n')
    const phi = inTerminal(['--config', 'agent.toml', '--trust'], { cwd, env })
    await phi.shows('› ')
    expect(phi.screen.text).toContain('strat')
    phi.type('/skills\r')
    await phi.shows('How to prune roses.')
    phi.type('hi\r')
    await phi.shows('[done')
    phi.type('/exit\r')
    expect(await phi.ended).toBe(0)
    const again = inTerminal(['--config', 'agent.toml', '--trust', '--resume'], { cwd, env })
    await again.shows('Resumed session')
  })

  it('reports the error in an invalid file', async () => {
    const { cwd, env } = await project('[execution]\nmax_turns = "many"\n')
    const { code, stderr } = await piped(['--config', 'agent.toml', '--trust', '-p', 'hi'], { cwd, env })
    expect(code).toBe(2)
    expect(stderr).toContain('execution.max_turns')
    expect((await piped(['--config', 'nowhere.toml', '-p', 'hi'], { cwd, env })).stderr).toContain('nowhere.toml')
    expect((await piped(['--trust', '-p', 'hi'], { cwd, env })).stderr).toContain('--config')
    expect(existsSync(join(cwd, 'trusted.json'))).toBe(false)
  })

  it('lists unused keys next to the missing ones', async () => {
    const cwd = directory()
    writeFileSync(join(cwd, 'agent.toml'), '[provider]\nmodel = "claude-sonnet-4-6"\napi_kee = "x"\n[agent]\nsystem_promt = "hi"\n')
    const { code, stderr } = await piped(['--config', 'agent.toml', '-p', 'hi'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain('provider.api_key is missing')
    expect(stderr).toContain('api_key = "${ANTHROPIC_API_KEY}"')
    expect(stderr).toMatch(/api_kee is ignored.*Did you mean api_key\?.*system_promt is ignored.*Did you mean system_prompt\?/)
    expect(stderr).not.toContain('process.env')
  })

  it("starts and stops a file's MCP servers", async () => {
    const server = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'
    const path = join(process.cwd(), server)
    if (!existsSync(path)) return console.warn(`SKIPPED: ${server} is not there`)
    const { cwd, env } = await project(
      `[[mcp.servers]]\nname = "every"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(path)}, "stdio"]\n`,
    )
    const { code, stdout, stderr } = await piped(['--config', 'agent.toml', '--trust', '-p', 'hi'], { cwd, env })
    expect([code, stdout], stderr).toEqual([0, 'From the file.\n'])
  })
})
