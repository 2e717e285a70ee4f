import { readUIMessageStream, type UIMessageChunk } from 'ai'
import { createParser } from 'eventsource-parser'
import { expect, it, vi } from 'vitest'
import { runResponse } from '../../../adapters/http/index.ts'
import { Agent, ConfigError, defineTool } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { allFrames, frames as framesOf } from './read-sse.ts'

const agentOf = (gate?: () => Promise<void>) =>
  new Agent({ model: scripted(() => ({ text: ['one ', 'two'] }), gate === undefined ? {} : { gate }) })

/** What the reader of the AI SDK makes of an answer. */
async function messageOf(response: Response) {
  const chunks: UIMessageChunk[] = []
  const parser = createParser({ onEvent: ({ data }) => data !== '[DONE]' && chunks.push(JSON.parse(data)) })
  parser.feed(await response.text())
  let last: unknown
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  for await (const message of readUIMessageStream({ stream })) last = message
  return last
}

it('responds with native events or with AI SDK chunks', async () => {
  const native = await allFrames(runResponse(agentOf().prompt('Go.')))
  expect(native.map(({ event }) => event)).toContain('messageUpdate')
  expect(native.at(-1)?.data.status).toBe('completed')
  const response = runResponse(agentOf().prompt('Go.'), { protocol: 'aiSdk' })
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
  expect(await messageOf(response)).toMatchObject({ role: 'assistant', parts: [{ type: 'step-start' }, { type: 'text', text: 'one two' }] })
})

it.each([
  [true, 'aborted'],
  [false, 'completed'],
])('handles a disconnect with stopOnLeave %s: the run is %s', async (stopOnLeave, status) => {
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const run = agentOf(() => gate).prompt('Go.')
  await runResponse(run, { stopOnLeave }).body?.cancel()
  open()
  expect((await run.result).status).toBe(status)
})

it('rejects an unknown option and continues the run', async () => {
  const run = agentOf().prompt('Go.')
  expect(() => runResponse(run, { protocol: 'ai-sdk' as never })).toThrow(ConfigError)
  expect(await run.text()).toBe('one two')
})

it.each(['aiSdk', 'agUi'] as const)('streams the remaining run to a client that joins by %s after a decision', async (protocol) => {
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    parameters: { type: 'object' },
    needsApproval: true,
    execute: () => 'Sent.',
  })
  const model = scripted([{ toolCalls: [{ name: 'send', arguments: {} }] }, { text: 'All done.' }])
  const run = new Agent({ model, tools: [send] }).prompt('Go.')
  for await (const event of run) if (event.type === 'approvalRequested') run.approve(event)
  await run.result
  // As the events of a run on another machine, which never tells what is there already.
  const slow = async function* () {
    for await (const event of run.events({ after: 0 })) {
      await new Promise((resolve) => setImmediate(resolve))
      yield event
    }
  }
  const remote = new Proxy(run, {
    get: (target, name) => {
      if (name === Symbol.asyncIterator) return slow
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  expect(await runResponse(remote, { protocol }).text()).toContain('All done.')
})

it('logs nothing if the client receives the failure and the pending calls', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  try {
    const failing = scripted([{ fail: { code: 'auth', message: 'The key of this response is wrong.' } }])
    const frames = await allFrames(runResponse(new Agent({ model: failing }).prompt('Go.')))
    expect(frames.at(-1)?.data.status).toBe('error')
    const parameters = { type: 'object', properties: {} } as const
    const pay = defineTool({ name: 'pay', description: 'Pays.', parameters, needsApproval: true, execute: () => 'paid' })
    const run = new Agent({ model: scripted([{ toolCalls: [{ name: 'pay', arguments: {} }] }, { text: 'Done.' }]), tools: [pay] }).prompt(
      'Go.',
    )
    for await (const { event, data } of framesOf(runResponse(run))) if (event === 'approvalRequested') setTimeout(() => run.approve(data))
    expect(warn.mock.calls).toEqual([])
  } finally {
    warn.mockRestore()
  }
})
