import { expect, it } from 'vitest'
import { Agent, type AgentRun, defineTool } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const parameters = { type: 'object' }
const look = defineTool({ name: 'look', description: 'Looks.', parameters, execute: () => 'seen' })
const agentOf = (script: Parameters<typeof scripted>[0]) => new Agent({ model: scripted(script, { chunkSize: 3 }), tools: [look] })

async function piecesOf({ textStream }: AgentRun): Promise<string[]> {
  const pieces: string[] = []
  for await (const text of textStream) pieces.push(text)
  return pieces
}

it('yields the text of all responses from the start, also to late readers', async () => {
  const run = agentOf([{ thinking: 'Hm.', text: 'I look. ', toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'I saw it.' }]).prompt(
    'go',
  )
  const pieces = await piecesOf(run)
  expect(pieces.length).toBeGreaterThan(4)
  expect(pieces.join('')).toBe('I look. I saw it.')
  expect((await piecesOf(run)).join('')).toBe('I look. I saw it.')
  expect(await run.text()).toBe('I saw it.')
})

it('yields the text before a failure, then throws', async () => {
  const run = agentOf([{ text: 'Half', fail: { code: 'auth', message: 'No.', afterText: true } }]).prompt('go')
  let read = ''
  const reading = (async () => {
    for await (const text of run.textStream) read += text
  })()
  await expect(reading).rejects.toMatchObject({ name: 'RunError', code: 'auth' })
  expect(read).toBe('Half')
})

it('continues the run after the reader stops', async () => {
  const run = agentOf([{ text: 'A long answer.' }]).prompt('go')
  for await (const _ of run.textStream) break
  expect(await run.result).toMatchObject({ status: 'completed', text: 'A long answer.' })
})
