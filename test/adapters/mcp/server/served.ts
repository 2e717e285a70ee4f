import { createServer } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type ElicitRequest, ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'
import { type ServeMcpOptions, serveMcp } from '../../../../adapters/mcp/server/index.ts'
import { toNodeHandler } from '../../../../adapters/node/index.ts'
import { Agent, type AgentOptions } from '../../../../src/index.ts'
import { type Script, type ScriptedOptions, scripted } from '../../../../src/providers/scripted/index.ts'

/** An agent as a tool `helper`. */
export function helper(script: Script, options: Partial<AgentOptions> = {}, played: ScriptedOptions = {}) {
  const model = scripted(script, played)
  return { helper: { description: 'Helps.', agent: () => new Agent({ model, ...options }) } }
}

/** A server on a port of this machine, until the test ends. `Bearer key-of-ada` is ada. */
export async function listening(options: Partial<ServeMcpOptions>) {
  const authorize = (c: { req: { header(name: string): string | undefined } }) =>
    /^Bearer key-of-(\w+)$/.exec(c.req.header('authorization') ?? '')?.[1]
  const app = serveMcp({ authorize, ...options })
  const server = createServer(toNodeHandler(app.fetch))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await app.close()
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return { app, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp` }
}

/** How somebody answers what a server asks. */
export type Answering = (request: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>

/** The official client, connected until the test ends. */
export async function connected(url: string, answer?: Answering, user = 'ada') {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: answer === undefined ? {} : { elicitation: {} } })
  if (answer !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params))
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer key-of-${user}` } },
  })
  // The class says of itself that its session may be undefined, which its own interface does not.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  onTestFinished(() => client.close())
  return { client, transport }
}

/** The text of an answer to a call. */
export function textOf(result: Awaited<ReturnType<Client['callTool']>>): string {
  const content: unknown[] = Array.isArray(result.content) ? result.content : []
  return content.map((block) => String(Object(block).text ?? '')).join('')
}
