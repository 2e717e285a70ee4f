import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, textOf } from 'phi-core'
import { connectMcp, mcpTools } from 'phi-core/mcp'
import { scripted } from 'phi-core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { agentWithFiles } from '../../examples/recipes/tools/mcp-filesystem.ts'
import { agentWithService } from '../../examples/recipes/tools/mcp-http.ts'
import { agentWithInstructions } from '../../examples/recipes/tools/mcp-instructions.ts'
import { researchServer } from '../../examples/recipes/tools/mcp-server.ts'
import { json, mcpAnswer, webServer } from '../adapters/mcp/http-server.ts'

/** Calls a tool, and says what it returned. */
const calling = (name: string, args = {}) =>
  scripted((request) => {
    const last = request.messages.at(-1)
    return last?.role === 'toolResult' ? { text: textOf(last.content) } : { toolCalls: [{ name, arguments: args }] }
  })

describe('mcp', () => {
  it('reads files through a server, which ends with the agent', async () => {
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

  it('is told what a server says of its tools', async () => {
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

  it('asks before it calls a service', async () => {
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

it('serves an agent as a tool', async () => {
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
