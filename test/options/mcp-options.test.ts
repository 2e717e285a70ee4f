import { describe, expect, it } from 'vitest'
import { connectMcp, type McpClientLike, type McpHttpOptions, type McpToolsOptions, mcpTools } from '../../adapters/mcp/index.ts'
import { connectMcpStdio, type McpStdioOptions } from '../../adapters/node/mcp/index.ts'
import { Agent, ConfigError } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { checkedOptions } from './surface.ts'

const client = (): McpClientLike => ({
  request: async () => ({ tools: [] }),
  callTool: async () => ({}),
  getServerCapabilities: () => undefined,
  close: async () => undefined,
})

checkedOptions<McpToolsOptions>(
  'mcpTools',
  {
    ...{ prefix: 'a_b-c', include: ['a'], needsApproval: () => true, logger: { warn: () => undefined } },
    ...{ timeoutMs: 1, resetTimeoutOnProgress: false, totalTimeoutMs: 1, resourceTools: true },
  },
  (options) => mcpTools(client(), options),
)

describe('MCP connection options', () => {
  const refused = async (connecting: Promise<unknown>, words: string) => {
    const failure = await connecting.catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ConfigError)
    expect(String(failure)).toContain(words)
  }

  it('validates the tool prefix and the client', async () => {
    for (const prefix of ['', 'a__b', 'a_', '1a', 'é', 'x'.repeat(33)]) await refused(mcpTools(client(), { prefix }), 'prefix')
    await refused(mcpTools({} as McpClientLike), 'client')
  })

  it('validates URL, headers and command', async () => {
    await refused(connectMcp({ url: 'ftp://a.example' }), 'url')
    await refused(connectMcp({ url: 'http://me:secret@a.example' }), 'without a user name')
    await refused(connectMcp({ url: 'http://a.example', header: {} } as McpHttpOptions), 'Did you mean headers?')
    await refused(connectMcpStdio({ command: 'x', arg: [] } as unknown as McpStdioOptions), 'Did you mean args?')
    await refused(connectMcpStdio({ command: 'x', connectTimeoutMs: -1 }), 'connectTimeoutMs')
  })

  it('closes everything the agent owns, and reports failures', async () => {
    const closed: string[] = []
    const failing = { close: () => Promise.reject(new Error('no end')) }
    const owns = [failing, { close: () => closed.push('second') }]
    const agent = new Agent({ model: scripted([]), owns })
    await agent.fork().close()
    expect(closed).toEqual([])
    await expect(agent.close()).rejects.toThrow('no end')
    expect(closed).toEqual(['second'])
  })
})
