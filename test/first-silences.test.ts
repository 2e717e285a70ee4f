import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { fileSessionStore } from '../adapters/node/index.ts'
import { Agent, defineTool, memorySessionStore, resumeAgent } from '../src/index.ts'
import { scripted } from '../src/providers/scripted/index.ts'
import { patient } from './support/patience.ts'

// What a newcomer would not see by himself in the first hour: it is told, once.

const model = scripted(() => ({ text: 'ok' }))
const parameters = { type: 'object', properties: {} } as const
const add = { name: 'add', description: 'Adds.', parameters, execute: () => '3' }

afterEach(() => vi.restoreAllMocks())

describe('what nobody would see is told once on the console', () => {
  const spyOnWarnings = () => vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const call = [{ toolCalls: [{ name: 'add', arguments: {} }] }, { text: 'Done.' }]

  it('a run that fails while nobody asks how it ended', async () => {
    const warn = spyOnWarnings()
    const failing401 = scripted([{ fail: { code: 'auth', message: 'The key is wrong.' } }])
    for await (const _ of new Agent({ model: failing401 }).prompt('hi')) void _
    await vi.waitFor(
      () =>
        expect(warn.mock.calls.flat().join(' ')).toMatch(
          /runFailed\. The key is wrong\. The outcome of the run was never read: await run\.result/,
        ),
      patient,
    )
    expect(warn).toHaveBeenCalledTimes(1)
  })

  it('a tool that throws, and arguments that are wrong', async () => {
    const warn = spyOnWarnings()
    const tools = [
      defineTool({
        ...add,
        execute: () => {
          throw new Error('db is down')
        },
      }),
    ]
    await new Agent({ model: scripted(call), tools }).prompt('hi').text()
    expect(warn.mock.calls.flat().join(' ')).toContain('Tool "add" threw: db is down. The model received the error, and the run continues.')
    const strict = [defineTool({ ...add, parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } })]
    await new Agent({ model: scripted(call), tools: strict }).prompt('hi').text()
    expect(warn.mock.calls.flat().join(' ')).toContain(
      'The model called "add" with invalid arguments: a: is required. The model received the error, and may call again.',
    )
  })

  it.each([
    ['memory', () => memorySessionStore()],
    ['files', () => fileSessionStore(mkdtempSync(join(tmpdir(), 'phi-first-')))],
  ])('a session that another agent has gone on with: %s', async (_, storeOf) => {
    const store = storeOf()
    const first = new Agent({ model, session: store, sessionId: 's' })
    await first.prompt('one').text()
    await (await resumeAgent(store, 's', { model })).prompt('two').text()
    await expect(first.prompt('three').text()).rejects.toThrow(
      /session s, or it was deleted\. .*Use resumeAgent to continue the session\.$/i,
    )
  })

  it('an answer that was cut', async () => {
    const warn = spyOnWarnings()
    await new Agent({ model: scripted([{ text: 'A long answ', stopReason: 'length', usage: { output: 3217 } }]) }).prompt('hi').text()
    expect(warn.mock.calls.flat().join(' ')).toMatch(
      /The answer was cut after 3217 tokens.*Raise maxTokens of the agent, or ask the model to continue\./,
    )
  })

  it('a question that nobody hears ends the run, paused', async () => {
    const agent = new Agent({ model: scripted(call), tools: [defineTool({ ...add, needsApproval: true })] })
    await expect(agent.prompt('hi').text()).rejects.toThrow(
      'The run is paused: calls of add wait for an approval. agent.continueLoop() asks again: answer approvalRequested with run.approve(event) ' +
        'or run.deny(event).',
    )
  })
})
