import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { Agent, type AgentOptions, defineTool, type Logger, RunError, ToolError } from '../../src/index.ts'
import { type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'
import { patient } from '../support/patience.ts'

let written: MockInstance<typeof console.warn>
beforeEach(() => {
  written = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
})
afterEach(() => written.mockRestore())

const lines = () => written.mock.calls.map(([line]) => String(line))
const nextTask = () => new Promise((resolve) => setTimeout(resolve))
/** A reason that no other test has told the console. */
let reasons = 0
const failing = () => scripted([{ fail: { code: 'auth', message: `Key ${++reasons} was refused.` } }])

describe('a failed run without an observer', () => {
  it('logs once to the console with reason and solution', async () => {
    const model = failing()
    for await (const _ of new Agent({ model }).prompt('x'));
    await nextTask()
    expect(lines()).toEqual([
      expect.stringMatching(/^phi-core: runFailed\. Key \d+ was refused\. Nothing read the outcome of the run\. Await run\.result/),
    ])
  })

  it('logs the failure of a prompt whose run was discarded', async () => {
    const agent = new Agent({ model: failing() })
    agent.prompt('x')
    await vi.waitFor(() => expect(lines()).toHaveLength(1), patient)
  })

  it.each<[string, (agent: Agent) => Promise<unknown>]>([
    [
      'reads the text',
      async (agent) => {
        const reading = (async () => {
          for await (const _ of agent.prompt('x').textStream);
        })()
        await reading.catch(() => undefined)
      },
    ],
    ['awaits the result', (agent) => agent.prompt('x').result],
    [
      'awaits text()',
      (agent) =>
        agent
          .prompt('x')
          .text()
          .catch(() => undefined),
    ],
    [
      'reads to the end and then awaits text()',
      async (agent) => {
        const run = agent.prompt('x')
        for await (const _ of run);
        return run.result
      },
    ],
    [
      'subscribes and awaits the result',
      async (agent) => {
        agent.subscribe(() => undefined)
        await agent.prompt('x').result
      },
    ],
  ])('logs nothing if the caller %s', async (_, look) => {
    await look(new Agent({ model: failing() }))
    await nextTask()
    expect(lines()).toEqual([])
  })

  it('logs nothing with logger: false and calls a custom logger', async () => {
    const warn = vi.fn<Logger['warn']>()
    for (const logger of [false, { warn }] as const) {
      for await (const _ of new Agent({ model: failing(), logger }).prompt('x'));
      await nextTask()
    }
    expect(lines()).toEqual([])
    expect(warn).toHaveBeenCalledExactlyOnceWith('runFailed', expect.objectContaining({ code: 'auth', message: expect.any(String) }))
  })
})

describe('an incomplete response', () => {
  const answers: [string, ScriptedStep[], string][] = [
    ['was cut off by its length', [{ text: 'Once upon', stopReason: 'length', usage: { output: 4096 } }], 'answerCut'],
    ['was refused', [{ text: 'No.', stopReason: 'guardRail' }], 'answerRefused'],
    // It is asked for once more first.
    ['contained only thinking, twice', [{ thinking: 'Hm.' }, { thinking: 'Hm.' }], 'providerRetry emptyAnswer answerWithoutText'],
    [
      'contained thinking and blank text, twice',
      [
        { thinking: 'Hm.', text: ' ' },
        { thinking: 'Hm.', text: ' ' },
      ],
      'providerRetry emptyAnswer answerWithoutText',
    ],
  ]
  it.each(answers)('completes the run with a warning: %s', async (_, script, event) => {
    const warn = vi.fn<Logger['warn']>()
    const result = await new Agent({ model: scripted(script), logger: { warn } }).prompt('x').result
    expect(result).toMatchObject({ status: 'completed', stopReason: script[0]?.stopReason ?? 'stop' })
    expect(warn.mock.calls.map(([name]) => name).join(' ')).toBe(event)
  })

  it('logs once to the console for repeated incomplete responses', async () => {
    const agent = new Agent({ model: scripted(() => ({ text: 'Once', stopReason: 'length', usage: { output: 4097 } })) })
    for (let turn = 0; turn < 3; turn += 1) await agent.prompt('x').result
    expect(lines()).toEqual([
      expect.stringMatching(/^phi-core: answerCut\. The response was truncated after 4097 tokens.* Raise maxTokens/),
    ])
  })
})

describe('console logs of tool failures', () => {
  /** No other test calls one of this name: the console is told once per process. */
  const name = 'add_in_silence'
  const parameters = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
  const calling = (a: number | string) => scripted([{ toolCalls: [{ name, arguments: { a } }] }, { text: 'Done.' }])
  const toolThat = (execute: () => string | Promise<string>) => defineTool({ name, description: 'Adds.', parameters, execute })
  const broken = () => {
    throw new Error(`Base ${++reasons} is down`)
  }

  it.each([
    ['throws', broken],
    ['rejects', async () => broken()],
  ])('logs the tool and the reason when it %s', async (_, execute) => {
    expect(await new Agent({ model: calling(1), tools: [toolThat(execute)] }).prompt('x').text()).toBe('Done.')
    expect(lines()).toEqual([
      expect.stringMatching(/^phi-core: toolFailed\. Tool "add_in_silence" threw: Base \d+ is down\. The model received the error/),
    ])
  })

  it('logs invalid tool-call arguments', async () => {
    const tool = toolThat(() => 'never')
    expect(await new Agent({ model: calling('one'), tools: [tool] }).prompt('x').text()).toBe('Done.')
    expect(lines()).toEqual([
      expect.stringMatching(
        /^phi-core: callRefused\. The model called "add_in_silence" with invalid arguments: a: expected number, got string\. The model received the error/,
      ),
    ])
  })

  it('does not log a ToolError, which is meant for the model', async () => {
    const tool = toolThat(() => {
      throw new ToolError('failed', 'No such row.')
    })
    expect(await new Agent({ model: calling(1), tools: [tool] }).prompt('x').text()).toBe('Done.')
    expect(lines()).toEqual([])
  })
})

describe('an approval or input request without a listener', () => {
  const call = { toolCalls: [{ name: 'rm', arguments: {} }] }
  const removed: string[] = []
  const parameters = { type: 'object' }
  const rm = defineTool({
    name: 'rm',
    description: 'Removes.',
    parameters,
    needsApproval: true,
    execute: () => removed.push('it') && 'gone',
  })

  it('pauses the run immediately so the caller can continue it', async () => {
    const agent = new Agent({ model: scripted([call, { text: 'Done.' }]), tools: [rm] })
    const error = await agent
      .prompt('go')
      .text()
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'paused', message: expect.stringContaining('calls of rm are pending approval') })
    expect(RunError.isInstance(error) && error.result.pendingApprovals).toMatchObject([{ toolName: 'rm' }])
    expect(removed).toEqual([])
    const run = agent.continueLoop()
    run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event))
    expect(await run.text()).toBe('Done.')
    expect(removed).toEqual(['it'])
  })

  it.each<[string, (run: ReturnType<Agent['prompt']>) => AsyncIterable<unknown>]>([
    ['the text', (run) => run.textStream],
    ['partial values', (run) => run.partial()],
    ['elements', (run) => run.elements()],
  ])('pauses the run if the only reader reads %s', async (_, read) => {
    const run = new Agent({ model: scripted([call]), tools: [rm] }).prompt('go')
    const reading = (async () => {
      for await (const _ of read(run));
    })()
    await expect(reading).rejects.toMatchObject({ code: 'paused', message: expect.stringContaining('calls of rm are pending approval') })
  })

  it.each<[string, (run: ReturnType<Agent['prompt']>) => unknown]>([
    ['subscribes', (run) => run.subscribe(() => undefined)],
    ['reads events', (run) => run.events()],
    ['reads pending approvals', (run) => run.pendingApprovals()],
  ])('waits if the caller %s', async (_, attend) => {
    const run = new Agent({ model: scripted([call, { text: 'Done.' }]), tools: [rm] }).prompt('go')
    attend(run)
    await vi.waitFor(() => expect(run.pendingApprovals()).toHaveLength(1), patient)
    for (const pending of run.pendingApprovals()) run.approve(pending)
    expect((await run.result).status).toBe('completed')
  })

  it("immediately cancels a running call's input request", async () => {
    const asks = defineTool({
      ...{ name: 'rm', description: 'Asks.', parameters },
      execute: async (_, ctx) => (await ctx.requestInput?.({ message: 'Sure?' }))?.action ?? 'none',
    })
    const agent = new Agent({ model: scripted([call, { text: 'Done.' }]), tools: [asks] })
    expect(await agent.prompt('go').text()).toBe('Done.')
    expect(agent.messages.find(({ role }) => role === 'toolResult')).toMatchObject({ content: [{ text: 'cancel' }] })
  })
})

it('reports an invalid logger option by name', () => {
  const wrong = { model: scripted([]), logger: true } as unknown as AgentOptions
  expect(() => new Agent(wrong)).toThrow('logger is true; it must be a logger, with warn(), or false for silence.')
})
