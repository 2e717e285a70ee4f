import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, textOf } from 'phi-core'
import { connectMcp, mcpTools } from 'phi-core/mcp'
import { connectMcpStdio } from 'phi-core/mcp/node'
import { scripted } from 'phi-core/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { agentWithApps } from '../../examples/recipes/tools/mcp-apps.ts'
import { agentWithFiles } from '../../examples/recipes/tools/mcp-filesystem.ts'
import { agentWithService } from '../../examples/recipes/tools/mcp-http.ts'
import { agentWithInstructions } from '../../examples/recipes/tools/mcp-instructions.ts'
import { messageField } from '../../examples/recipes/tools/mcp-mentions.ts'
import { askAbout, followResource, sendPrompt } from '../../examples/recipes/tools/mcp-resources.ts'
import { researchServer } from '../../examples/recipes/tools/mcp-server.ts'
import { json, mcpAnswer, webServer } from '../adapters/mcp/http-server.ts'
import { patient } from '../support/patience.ts'

/** Calls a tool, and says what it returned. */
const calling = (name: string, args = {}) =>
  scripted((request) => {
    const last = request.messages.at(-1)
    return last?.role === 'toolResult' ? { text: textOf(last.content) } : { toolCalls: [{ name, arguments: args }] }
  })

describe('the MCP examples', () => {
  it('reads files through an MCP server that ends with the agent', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'phi-example-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'plan.txt'), 'Rest on Sunday.')
    const serverPath = join('node_modules', '@modelcontextprotocol', 'server-filesystem', 'dist', 'index.js')
    const agent = await agentWithFiles(calling('files__read_text_file', { path: join(folder, 'plan.txt') }), serverPath, folder)
    expect(agent.settings.tools?.map(({ name }) => name)).not.toContain('files__write_file')
    expect(await agent.prompt('What is planned?').text()).toBe('Rest on Sunday.')
    await agent.close()
    expect(await agent.prompt('And now?').text()).toContain('closed')
  })

  it('asks about a resource, sends a prompt and follows changes', async () => {
    const args = [join('test', 'adapters', 'mcp', 'resource-server.mjs')]
    const tools = await mcpTools(await connectMcpStdio({ command: process.execPath, args }))
    onTestFinished(() => tools.close())
    const model = scripted(({ messages }) => ({ text: messages.map(({ content }) => textOf(content)).join('|') }))
    expect(await askAbout(new Agent({ model }), tools, 'notes', 'What?')).toBe('[resource mem:///notes]helloWhat?')
    expect(await sendPrompt(new Agent({ model }), tools, 'greet', { who: 'Ann' })).toBe('Greet Ann')
    const texts: string[] = []
    const stop = await followResource(tools, 'mem:///notes', (text) => void texts.push(text))
    // The server reports a change after each subscription.
    await vi.waitFor(() => expect(texts).toHaveLength(2), patient)
    stop()
    expect(texts).toEqual(['[resource mem:///notes]hello', '[resource mem:///notes]hello'])
  })

  it('sends typed prompts and mentioned resources', async () => {
    const args = [join('test', 'adapters', 'mcp', 'resource-server.mjs')]
    const tools = await mcpTools(await connectMcpStdio({ command: process.execPath, args }), { prefix: 'mem' })
    onTestFinished(() => tools.close())
    const model = scripted(({ messages }) => ({ text: messages.map(({ content }) => textOf(content)).join('|') }))
    const field = messageField(new Agent({ model }), [tools])
    expect(await field.send('/mem:greet Ann')).toBe('Greet Ann')
    expect(field.complete('/mem:g')?.options.map(({ text }) => text)).toEqual(['/mem:greet '])
    const other = messageField(new Agent({ model }), [tools])
    expect(await other.send('What is in @mem:mem:///notes?')).toBe('[resource mem:///notes]helloWhat is in @mem:mem:///notes?')
  })

  it("adds the server's instructions to the system prompt", async () => {
    const { url } = await webServer((one, response) => {
      const answer = mcpAnswer(one)
      if (one.method === 'GET') response.writeHead(405).end()
      else if (answer === undefined) response.writeHead(202).end()
      else if (one.body.method !== 'initialize') json(response, answer)
      else json(response, { ...answer, result: { ...Object(answer).result, instructions: 'Act twice.' } })
    })
    const agent = await agentWithInstructions(calling('service__act'), url)
    expect(agent.settings.systemPrompt).toMatch(/^You help Ann\..*<mcp-server tools="service__\*">\nAct twice\.\n<\/mcp-server>$/s)
    await agent.close()
  })

  it('announces that it shows apps', async () => {
    const announced: unknown[] = []
    const { url } = await webServer((one, response) => {
      const answer = mcpAnswer(one)
      if (one.body?.method === 'initialize') announced.push(Object(one.body.params).capabilities)
      if (one.method === 'GET') response.writeHead(405).end()
      else if (answer === undefined) response.writeHead(202).end()
      else json(response, answer)
    })
    const { agent } = await agentWithApps(calling('shop__act'), url)
    expect(await agent.prompt('Act.').text()).toBe('ok')
    const ui = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }
    expect(announced).toMatchObject([{ extensions: ui }])
    await agent.close()
  })

  it('requests approval before it calls a server tool', async () => {
    const { url } = await webServer((one, response) => {
      const answer = mcpAnswer(one)
      if (one.method === 'GET') response.writeHead(405).end()
      else if (answer === undefined) response.writeHead(202).end()
      else json(response, answer)
    })
    const agent = await agentWithService(calling('service__act'), [], url, 'token', console)
    agent.subscribe((event) => event.type === 'approvalRequested' && agent.currentRun?.approve(event))
    expect(await agent.prompt('Act.').text()).toBe('ok')
    await agent.close()
  })
})

it('exposes an agent as an MCP tool', async () => {
  const app = researchServer(scripted([{ text: 'It is so.' }]), [], 'long-secret')
  const client = await connectMcp({
    url: 'http://127.0.0.1/mcp',
    headers: { authorization: 'Bearer long-secret' },
    fetch: async (url, init) => app.fetch(new Request(url, init)),
  })
  const tools = await mcpTools(client)
  expect(await new Agent({ model: calling('research', { prompt: 'Is it so?' }), tools }).prompt('Look it up.').text()).toBe('It is so.')
  await client.close()
  await app.close()
})
