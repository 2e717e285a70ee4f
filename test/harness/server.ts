import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { anthropic } from './server/anthropic.ts'
import { bedrock } from './server/bedrock.ts'
import { google, vertex } from './server/google.ts'
import { McpFixtures } from './server/mcp.ts'
import { openai } from './server/openai.ts'
import { azure, openaiResponses } from './server/openai-responses.ts'
import { play } from './server/play.ts'
import { type Protocol, scenarios } from './server/scenarios.ts'
import { Switchboard } from './server/switchboard.ts'

const protocols: Record<string, Protocol> = { anthropic, openai, bedrock, 'openai-responses': openaiResponses, azure, google, vertex }

/** The running fixture server. */
export interface FixtureServer {
  url: string
  /** Cuts every connection and stops. */
  close(): Promise<void>
}

/**
 * Starts the local server every runtime talks to. It listens on 127.0.0.1 only and answers any origin.
 *
 * - `POST /<protocol>/<scenario>[/<argument>…]<endpoint>`, such as `/anthropic/text/v1/messages`: a model, as server/scenarios.ts scripts it.
 *   All that stands before the endpoint is the *base*; give each test a base of its own (end it with a random id).
 * - `/mcp/<kind>/<id>`: MCP servers, as server/mcp.ts has them.
 * - `GET /log<base>`: the request bodies that base has received, as a JSON array.
 * - `POST /release<base>`: lets the paused streams of that base go on, now or when they get there.
 * - `GET /idle<base>`: answers once no stream of that base is open.
 * - `GET /none-paused`: answers once no stream of any base waits for a release or for its client.
 */
export async function startServer(port = 0): Promise<FixtureServer> {
  const board = new Switchboard()
  const mcp = new McpFixtures()
  const server = createServer((request, response) => {
    answer(board, mcp, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end(String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The fixture server has no port.')
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${address.port}`, close }
}

async function answer(board: Switchboard, mcp: McpFixtures, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '*')
  response.setHeader('access-control-allow-methods', 'GET, POST, DELETE')
  response.setHeader('access-control-max-age', '600')
  if (request.method === 'OPTIONS') {
    response.writeHead(204).end()
    return
  }
  const path = request.url ?? '/'
  const [, verb = '', ...rest] = path.split('/')
  const base = `/${rest.join('/')}`
  const protocol = protocols[verb]
  if (protocol) await answerAsModel(protocol, path, board, request, response)
  else if (verb === 'mcp' || verb === 'mcp-log') await mcp.answer(path, request, response)
  else if (verb === 'log') sendJson(response, board.bodies(base))
  else if (verb === 'none-paused') response.end(await board.nonePaused())
  else if (verb === 'release') response.end(String(board.release(base)))
  else if (verb === 'idle') response.end(await board.idle(base))
  else response.writeHead(404).end(`no such fixture: ${path}`)
}

async function answerAsModel(
  protocol: Protocol,
  path: string,
  board: Switchboard,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const base = path.slice(0, -protocol.endpoint.length)
  const [, , name = '', ...parameters] = base.split('/')
  const scenario = scenarios[name]
  if (!path.endsWith(protocol.endpoint) || !scenario) {
    response.writeHead(404).end(`no such fixture: ${path}`)
    return
  }
  const body: unknown = JSON.parse(await text(request))
  const attempt = board.record(base, body)
  await play(scenario({ parameters, attempt, toolResults: protocol.toolResults(body) }), protocol, board.line(base), response)
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}
