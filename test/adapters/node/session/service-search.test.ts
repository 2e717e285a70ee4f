import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { fileSessionStore } from '../../../../adapters/node/index.ts'
import { resumeAgent } from '../../../../src/index.ts'
import { restoredState, sourcesOf } from '../../../../src/store.ts'
import { toUiMessages } from '../../../../src/ui/ai-sdk.ts'
import { quickProgram } from '../../../support/quick-program.ts'
import { lookUp, type SearchingService, searchAnswers, searchingModel } from './search-service.ts'

const program = quickProgram(fileURLToPath(new URL('search-agent.ts', import.meta.url)))
const left: (() => unknown)[] = []
afterEach(async () => {
  for (const end of left.splice(0)) await end()
})

/** A service that searches unless its request has what it found. */
async function serving(service: SearchingService): Promise<{ baseUrl: string; searches: () => number; requests: string[] }> {
  const { evidence, searched, plain } = searchAnswers[service]
  const requests: string[] = []
  let searches = 0
  const server = createServer(async (asked, response) => {
    let body = ''
    for await (const piece of asked) body += piece
    requests.push(body)
    const isKnown = evidence.every((piece) => body.includes(piece))
    if (!isKnown) searches += 1
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end((isKnown ? plain : searched).map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  left.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, searches: () => searches, requests } // it listens on a port
}

/** A process that asks, and is killed once it has its answer. */
async function askedAndKilled(directory: string, service: SearchingService, baseUrl: string): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, [program.path, directory, service, baseUrl], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = child.stdout === null ? [''] : await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  return String(said).trim()
}

describe.each<SearchingService>(['Anthropic', 'OpenAI', 'Google'])('hosted search of %s', (service) => {
  it('keeps its sources across a crash and a reload and is not repeated in the next turn', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'service-search-'))
    left.push(() => rm(directory, { recursive: true, force: true }))
    const { baseUrl, searches, requests } = await serving(service)
    expect(await askedAndKilled(directory, service, baseUrl)).toBe('completed')
    const store = fileSessionStore(directory)

    const agent = await resumeAgent(store, 's1', { model: searchingModel(service, baseUrl), tools: [lookUp] })
    left.push(() => agent.close())
    const answer = restoredState(agent.messages).messages.find(({ role }) => role === 'assistant')
    expect(sourcesOf(answer?.blocks ?? [])).toMatchObject([{ title: 'Damavand', url: 'https://example.org/damavand', host: 'example.org' }])
    expect(answer?.blocks).toContainEqual(expect.objectContaining({ type: 'serviceTool', status: 'done' }))
    const shown = toUiMessages(agent.messages).at(-1)?.parts ?? []
    expect(shown).toContainEqual(expect.objectContaining({ type: 'source-url', url: 'https://example.org/damavand', title: 'Damavand' }))
    expect(shown).toContainEqual(expect.objectContaining({ providerExecuted: true, state: 'output-available' }))

    expect(await agent.prompt('And in words?').text()).toBe('As I found: 5,609 m.')
    expect(searches()).toBe(1)
    expect(requests).toHaveLength(2)
  })
})
