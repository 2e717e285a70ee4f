import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { directory, environment, program } from './command.ts'
import { calling, modelServer } from './model-server.ts'

/** The official client, with `phi mcp` as its server. */
async function clientOf(env: Record<string, string>, cwd: string, args: readonly string[], answer: boolean) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
  const asked: string[] = []
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { approve: answer } }
  })
  const command = [program, 'mcp', '--model', 'openai/test', '--no-sandbox', ...args]
  await client.connect(new StdioClientTransport({ command: process.execPath, args: command, env, cwd }))
  onTestFinished(() => client.close())
  return { client, asked }
}

/** A directory, and a model that writes a file there. */
async function writingPlace() {
  const { env } = await modelServer(({ attempt }) =>
    attempt === 1 ? calling('write_file', { path: 'note.txt', content: 'hello' }) : { text: ['Done.'] },
  )
  return { env: environment(env), cwd: directory() }
}

describe('phi mcp', () => {
  it.each([
    [[], true, 1],
    [[], false, 1],
    [['--yes'], false, 0],
  ] as const)('requests approval from the client by default: %s %s', async (args, answer, questions) => {
    const { env, cwd } = await writingPlace()
    const { client, asked } = await clientOf(env, cwd, args, answer)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['phi'])
    const result = await client.callTool({ name: 'phi', arguments: { prompt: 'Write it.' } })
    const isWritten = answer || args.length > 0
    expect([asked.length, existsSync(join(cwd, 'note.txt')), result.isError]).toEqual([questions, isWritten, undefined])
    if (isWritten) expect(readFileSync(join(cwd, 'note.txt'), 'utf8')).toBe('hello')
  })
})
