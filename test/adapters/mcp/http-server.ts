import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** What a server got. */
export interface Heard {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: { id?: number; method?: string; params?: { name?: string } }
}

/** A web server on this machine that answers as `answer` says, until the test ends. */
export async function webServer(
  answer: (heard: Heard, response: ServerResponse) => void,
): Promise<{ url: string; heard: Heard[]; server: Server }> {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const one = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: text.startsWith('{') ? JSON.parse(text) : {},
    }
    heard.push(one)
    answer(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}`, heard, server }
}

export function json(response: ServerResponse, value: unknown, headers: Record<string, string> = {}, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

/** The answers of a plain MCP server with one tool, `act`. */
export function mcpAnswer(
  { body: { id, method } }: Heard,
  call: () => unknown = () => ({ content: [{ type: 'text', text: 'ok' }] }),
): object | undefined {
  if (id === undefined) return undefined
  const result =
    method === 'initialize'
      ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'web', version: '1' } }
      : method === 'tools/list'
        ? { tools: [{ name: 'act', inputSchema: { type: 'object' } }] }
        : call()
  return { jsonrpc: '2.0', id, result }
}

/** A port that was free a moment ago: for a server that is to come back where it was. */
export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** The official server as a program of its own, until the test ends or `kill` has resolved. */
export async function startEverything(transport: 'streamableHttp' | 'sse', port?: number): Promise<{ url: string; kill(): Promise<void> }> {
  const at = port ?? (await freePort())
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
  const child = spawn(process.execPath, [join(manifest, '..', 'dist', 'index.js'), transport], {
    env: { ...process.env, PORT: String(at), HOST: '127.0.0.1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const isGone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = () => {
    child.kill('SIGKILL')
    return isGone
  }
  onTestFinished(kill)
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => /listening|running/i.test(String(chunk)) && resolve())
    child.once('exit', () => reject(new Error('the server ended')))
  })
  return { url: `http://127.0.0.1:${at}`, kill }
}
