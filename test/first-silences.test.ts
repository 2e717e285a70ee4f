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

describe('warnings for unnoticed problems', () => {
  const spyOnWarnings = () => vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const call = [{ toolCalls: [{ name: 'add', arguments: {} }] }, { text: 'Done.' }]

  it('warns once if a run fails and its outcome is never read', async () => {
    const warn = spyOnWarnings()
    const failing401 = scripted([{ fail: { code: 'auth', message: 'The key is wrong.' } }])
    for await (const _ of new Agent({ model: failing401 }).prompt('hi')) void _
    await vi.waitFor(
      () =>
        expect(warn.mock.calls.flat().join(' ')).toMatch(
          /runFailed\. The key is wrong\. Nothing read the outcome of the run\. Await run\.result/,
        ),
      patient,
    )
    expect(warn).toHaveBeenCalledTimes(1)
  })

  it('warns about a throwing tool and about invalid arguments', async () => {
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
    expect(warn.mock.calls.flat().join(' ')).toContain('Tool "add" threw: db is down. The model received the error and the run continues.')
    const strict = [defineTool({ ...add, parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } })]
    await new Agent({ model: scripted(call), tools: strict }).prompt('hi').text()
    expect(warn.mock.calls.flat().join(' ')).toContain(
      'The model called "add" with invalid arguments: a: is required. The model received the error and may retry.',
    )
  })

  it.each([
    ['memory', () => memorySessionStore()],
    ['files', () => fileSessionStore(mkdtempSync(join(tmpdir(), 'phi-first-')))],
  ])('rejects a prompt after another agent continued the session: %s', async (_, storeOf) => {
    const store = storeOf()
    const first = new Agent({ model, session: store, sessionId: 's' })
    await first.prompt('one').text()
    await (await resumeAgent(store, 's', { model })).prompt('two').text()
    await expect(first.prompt('three').text()).rejects.toThrow(
      /session s, or the session was deleted\. .*Use resumeAgent to continue (it|the session)\.$/i,
    )
  })

  it('warns about a response cut at the output limit', async () => {
    const warn = spyOnWarnings()
    await new Agent({ model: scripted([{ text: 'A long answ', stopReason: 'length', usage: { output: 3217 } }]) }).prompt('hi').text()
    expect(warn.mock.calls.flat().join(' ')).toMatch(
      /The response was truncated after 3217 tokens.*Raise maxTokens, or ask the model to continue\./,
    )
  })

  it('rejects with the paused status if an approval has no handler', async () => {
    const agent = new Agent({ model: scripted(call), tools: [defineTool({ ...add, needsApproval: true })] })
    await expect(agent.prompt('hi').text()).rejects.toThrow(
      'The run is paused: calls of add are pending approval. Call agent.continueLoop(), and answer approvalRequested with run.approve(event) ' +
        'or run.deny(event).',
    )
  })
})
