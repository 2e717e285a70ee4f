import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directory, environment, piped } from './command.ts'
import { messagesText, modelServer } from './model-server.ts'
import { inTerminal, pty } from './terminal.ts'

const enter = '\r'
const tab = '\t'

/** The agent file of a project whose MCP server has prompts and resources. */
async function project() {
  const { env, asked } = await modelServer(({ attempt }) => ({ text: [`ok ${attempt}`] }))
  const cwd = directory()
  writeFileSync(
    join(cwd, 'agent.toml'),
    `
[provider]
model = "test"
api = "openai_completions"
base_url = "${env.OPENAI_BASE_URL}"
api_key = "k"
[[mcp.servers]]
name = "mem"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(resolve('test/adapters/mcp/resource-server.mjs'))}]`,
  )
  const sent = () => {
    const last = asked.at(-1)
    return last === undefined ? '' : messagesText(last)
  }
  return { place: { cwd, env: environment(env) }, flags: ['--config', 'agent.toml', '--trust'], sent }
}

/** phi at a terminal in that project. */
async function withServer() {
  const { place, flags, sent } = await project()
  const phi = inTerminal(flags, place)
  await phi.shows('› ')
  return { phi, sent }
}

describe.skipIf(pty === undefined)('prompts of MCP servers in a terminal', () => {
  it('lists prompts in the help, completes prompt names and sends prompt messages', async () => {
    const { phi, sent } = await withServer()
    phi.type(`/help${enter}`)
    await phi.shows(/\/mem:greet who \[tone\] +Greets/)
    phi.type('/mem:gr')
    await phi.shows('  /mem:greet ')
    phi.type(`${tab}who=A`)
    await phi.shows('who=Ann')
    phi.type(`${tab}very short${enter}`)
    await phi.shows('› Greet Ann, very short')
    await phi.shows('ok 1')
    expect(sent()).toContain('Greet Ann, very short')
  })

  it('sends the one that starts phi', async () => {
    const { place, flags, sent } = await project()
    const phi = inTerminal([...flags, '/mem:greet Ann'], place)
    await phi.shows('ok 1')
    expect(sent()).toContain('Greet Ann')
  })

  it('reports unknown prompts and missing arguments', async () => {
    const { phi, sent } = await withServer()
    phi.type(`/mem:nothing${enter}`)
    await phi.shows('/mem:nothing is not a prompt. Prompts of MCP servers: /mem:greet, /mem:picture.')
    phi.type(`/mem:greet${enter}`)
    await phi.shows('/mem:greet needs who. Type /mem:greet who [tone].')
    phi.type(`/mem:picture x${enter}`)
    await phi.shows('Too many arguments. Type /mem:picture.')
    expect(sent()).toBe('')
  })
})

describe.skipIf(pty === undefined)('resources of MCP servers in a terminal', () => {
  it('completes a mention and attaches the resource', async () => {
    const { phi, sent } = await withServer()
    phi.type('Sum up @me')
    await phi.shows('  @mem:')
    phi.type(`${tab}not`)
    await phi.shows('  @mem:mem:///notes')
    phi.type(`${tab}now`)
    await phi.shows('Sum up @mem:mem:///notes now')
    phi.type(enter)
    await phi.shows('ok 1')
    expect(sent()).toMatch(/\[resource mem:\/\/\/notes\].*hello.*Sum up @mem:mem:\/\/\/notes now/)
  })

  it('reports a resource that cannot be read and sends nothing', async () => {
    const { phi, sent } = await withServer()
    phi.type(`See @mem:mem:///missing${enter}`)
    await phi.shows(/Cannot attach @mem:mem:\/\/\/missing: [\s\S]*missing\. Use another URI,\s+or remove the @\./)
    expect(sent()).toBe('')
  })
})

describe('MCP servers in phi -p', () => {
  it('attaches a mentioned resource, but none that piped input mentions', async () => {
    const { place, flags, sent } = await project()
    const { stdout, stderr } = await piped([...flags, '-p', 'Sum up @mem:mem:///notes.'], { ...place, input: '@mem:mem:///pixel.png' })
    expect(stdout, stderr).toBe('ok 1\n')
    expect(sent()).toMatch(/\[resource mem:\/\/\/notes\].*hello.*Sum up @mem:mem:\/\/\/notes\./)
    expect(sent()).not.toContain('image')
  })

  it('sends a prompt with piped input before it', async () => {
    const { place, flags, sent } = await project()
    const { stdout, stderr } = await piped([...flags, '-p', '/mem:greet Ann tone=dry'], { ...place, input: 'the log' })
    expect(stdout, stderr).toBe('ok 1\n')
    expect(sent()).toMatch(/<stdin>.*the log.*<\/stdin>.*Greet Ann, dry/)
  })

  it.each([
    ['/mem:nothing', '/mem:nothing is not a prompt.'],
    ['See @mem:mem:///missing', 'Cannot attach @mem:mem:///missing'],
  ])('reports %s and sends nothing', async (prompt, message) => {
    const { place, flags, sent } = await project()
    const { stderr, code } = await piped([...flags, '-p', prompt], place)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
    expect(sent()).toBe('')
  })
})
