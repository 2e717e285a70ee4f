import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { mcpTools } from '../../../../adapters/mcp/index.ts'
import { connectMcpServer } from '../../../../adapters/mcp/server/index.ts'
import { connectMcpStdio } from '../../../../adapters/node/mcp/index.ts'
import { Agent } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { assertFreshBuild } from '../../../harness/fresh-build.ts'
import { helper } from './served.ts'

const program = join(import.meta.dirname, '../../../../examples/node/mcp-server.ts')
const withoutKeys = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' }

describe('an MCP server over stdio', () => {
  beforeAll(assertFreshBuild)

  it("serves an agent as another agent's tool", async () => {
    const connection = await connectMcpStdio({ command: process.execPath, args: [program], env: withoutKeys })
    onTestFinished(() => connection.close())
    const tools = await mcpTools(connection, { prefix: 'other' })
    const model = scripted(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'toolResult') return { toolCalls: [{ name: 'other__helper', arguments: { prompt: 'hi' } }] }
      return { text: last.content.map((block) => (block.type === 'text' ? block.text : '')).join('') }
    })
    expect(await new Agent({ model, tools }).prompt('Ask the other one.').text()).toMatch(/scripted model/)
  })

  it('exits when the parent closes its pipe', async () => {
    const child = spawn(process.execPath, [program], { env: withoutKeys, stdio: ['pipe', 'pipe', 'inherit'] })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const said = new PassThrough()
    child.stdout.pipe(said)
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`)
    await Promise.race([ended, new Promise((resolve) => said.once('data', resolve))])
    child.stdin.end()
    expect(await ended).toBe(0)
  })
})

describe('an MCP server over any transport', () => {
  it('aborts active calls when the connection closes', async () => {
    const ends: string[] = []
    const begun: string[] = []
    const hooks = { beforeLoop: () => void begun.push('begun'), afterLoop: ({ status }: { status: string }) => void ends.push(status) }
    const agents = helper([{ text: 'never' }], { hooks } as object, { gate: () => new Promise(() => undefined) })
    const [here, there] = InMemoryTransport.createLinkedPair()
    const connection = await connectMcpServer(there, { agents })
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(here)
    const call = client.callTool({ name: 'helper', arguments: { prompt: 'hi' } }).catch((error: Error) => error.message)
    await expect.poll(() => begun.length).toBe(1)
    await client.close()
    await connection.ended
    await expect.poll(() => ends).toEqual(['aborted'])
    expect(await call).toMatch(/closed/i)
    await expect(connectMcpServer(there, { agents: {} })).rejects.toThrow(/nothing to offer/)
  })
})
