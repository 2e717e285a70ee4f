import { describe, expect, it } from 'vitest'
import { applyProfile } from '../../src/agents.ts'
import type { CompactionStrategy } from '../../src/context.ts'
import { Agent, AgentBusyError, textOf, userMessage } from '../../src/index.ts'
import { llmJudge, parallelLoop } from '../../src/loop.ts'
import { type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'
import { parseSnapshot } from '../../src/session.ts'
import { revertTool } from '../../src/tools.ts'
import { grammarFaults } from '../support/grammar.ts'
import { longHistory, requestText } from '../support/long-history.ts'
import { play, tool } from '../support/play.ts'

const oneCall = [{ toolCalls: [{ name: 'step', arguments: {} }] }, { text: 'done' }]

/** Empties a list that is not meant to be changed. */
function emptied(list: readonly unknown[]): void {
  if (Array.isArray(list)) list.length = 0
}

describe('mutation by hooks and filters', () => {
  const step = tool('step', (_, ctx) => {
    ctx.update({ content: [{ type: 'text', text: 'half' }] })
    return 'ok'
  })

  it('leaves history and events unchanged when hooks mutate results and updates', async () => {
    const { agent, events } = await play(oneCall, {
      tools: [step],
      hooks: {
        beforeToolExecutionUpdate: ({ partialResult }) => emptied(partialResult.content),
        afterToolExecutionUpdate: ({ partialResult }) => emptied(partialResult.content),
        afterToolExecution: ({ result }) => emptied(result.content),
      },
    })
    expect(agent.messages[2]).toMatchObject({ content: [{ type: 'text', text: 'ok' }] })
    expect(events.find((event) => event.type === 'toolExecutionUpdate')).toMatchObject({ partialResult: { content: [{ text: 'half' }] } })
    expect(events.find((event) => event.type === 'toolExecutionEnd')).toMatchObject({ result: { content: [{ text: 'ok' }] } })
  })

  it('leaves history and events unchanged when hooks mutate message lists', async () => {
    const clear = ({ messages }: { messages: readonly unknown[] }) => emptied(messages)
    const { agent, events, result } = await play(oneCall, {
      tools: [step],
      hooks: {
        beforeLoop: clear,
        beforeTurn: clear,
        afterTurn: ({ messages, toolResults }) => {
          emptied(messages)
          emptied(toolResults)
        },
        afterLoop: clear,
      },
    })
    expect(agent.messages).toHaveLength(4)
    expect(result.messages).toHaveLength(4)
    expect(grammarFaults(events)).toEqual([])
    expect(events.find((event) => event.type === 'turnEnd')).toMatchObject({ toolResults: [{ toolName: 'step' }] })
  })

  it("leaves the caller's messages unchanged when a filter mutates its input", async () => {
    const mine = userMessage('hello')
    const { agent, model } = await play(
      [{ text: 'hi' }],
      {
        inputFilters: [
          (_, { messages }) => {
            for (const message of messages) if (message.role === 'user') emptied(message.content)
            return { type: 'pass' }
          },
        ],
      },
      [mine],
    )
    expect(textOf(mine.content)).toBe('hello')
    expect(agent.messages[0]).toMatchObject({ content: [{ text: 'hello' }] })
    expect(model.provider.requests[0]?.messages[0]).toMatchObject({ content: [{ text: 'hello' }] })
  })
})

describe('hooks that call back into their agent', () => {
  it('throws AgentBusyError and applies changed settings from the next run', async () => {
    const told: boolean[] = []
    const busy = () => {
      for (const act of [
        () => agent.prompt('again'),
        () => agent.send('again'),
        () => agent.continueLoop(),
        () => agent.compact(),
        () => agent.appendMessage(userMessage('x')),
        () => agent.newSession(),
        () => agent.restore(agent.checkpoint()),
      ]) {
        try {
          act()
          told.push(false)
        } catch (error) {
          told.push(error instanceof AgentBusyError)
        }
      }
      agent.configure({ maxTokens: 5 })
    }
    const model = scripted([...oneCall, { text: 'next' }])
    const names = ['beforeLoop', 'beforeTurn', 'afterTurn', 'beforeToolExecution', 'afterToolExecution'] as const
    const agent = new Agent({
      model,
      tools: [tool('step', () => 'ok')],
      hooks: Object.fromEntries(names.map((name) => [name, busy])),
    })
    expect((await agent.prompt('go').result).status).toBe('completed')
    expect(told).toHaveLength(7 * 7)
    expect(told).not.toContain(false)
    expect(model.provider.requests.map((request) => request.maxTokens)).toEqual([undefined, undefined])
    await agent.prompt('next').result
    expect(model.provider.requests[2]?.maxTokens).toBe(5)
  })
})

describe('restoring a snapshot', () => {
  it('resets missing settings to their defaults and clears the last session time', async () => {
    const model = scripted([{ text: 'a' }])
    const agent = new Agent({ model, maxTokens: 100, temperature: 0.5, configId: 'mine' })
    await agent.prompt('x').result
    agent.restore(new Agent({ model }).checkpoint())
    expect(agent.settings.maxTokens).toBeUndefined()
    expect(agent.settings.temperature).toBeUndefined()
    expect(agent.settings.configId).toBeUndefined()
    expect(agent.lastActiveAt).toBeUndefined()
    expect(agent.newSession({ afterIdleMs: 0 })).toBe(agent.sessionId)
  })

  it('ignores settings that do not belong in a snapshot', () => {
    const agent = new Agent({ model: scripted([]), limits: { maxTurns: 2 } })
    const snapshot = agent.checkpoint()
    const written = { ...snapshot, later: 1, settings: { ...snapshot.settings, limits: false, contextManagement: false, tools: [] } }
    agent.restore(parseSnapshot(JSON.stringify(written)))
    expect(agent.settings.limits).toMatchObject({ maxTurns: 2 })
    expect([agent.settings.contextManagement, agent.settings.tools]).toEqual([true, []])
  })
})

describe('compaction after a revert', () => {
  const back: ScriptedStep = { toolCalls: [{ name: 'revert_to_state', arguments: { category: 'failure', step: 'n0' } }] }
  const tooLong: ScriptedStep = { fail: { code: 'contextOverflow', message: 'prompt is too long' } }

  it.each<[string, ScriptedStep[]]>([
    ['of the last turn', [oneCall[0] ?? {}, back, tooLong, { text: 'done' }]],
    ['of everything since the prompt', [oneCall[0] ?? {}, oneCall[0] ?? {}, back, tooLong, { text: 'done' }]],
  ])('sends the user message in every request after a revert %s', async (_, script) => {
    const { model, events } = await play(script, { tools: [tool('step', () => 'ok'), revertTool()] }, `do it ${'at once '.repeat(20)}`)
    expect(grammarFaults(events)).toEqual([])
    for (const { messages } of model.provider.requests) expect(messages[0]?.role).toBe('user')
    expect(JSON.stringify(model.provider.requests.at(-1)?.messages)).toContain('do it')
  })
})

describe('custom application code', () => {
  const context = (strategy: CompactionStrategy) => ({
    messages: longHistory(30, 100),
    contextConfig: { maxContextTokens: 2000, systemPromptTokens: 0, compaction: { strategy } },
  })

  it('accepts a userMessage as the compaction summary', async () => {
    const { model } = await play([{ text: 'done' }], context({ keepCompacted: async () => [userMessage('my own words')] }))
    expect(requestText(model.provider.requests[0])).toContain('my own words')
  })

  it('logs an invalid summary and falls back to the default compaction', async () => {
    const logged: string[] = []
    const broken: unknown[] = [null]
    const strategy: CompactionStrategy = { keepCompacted: () => broken as [] } // as a program without types may answer
    const { model, result } = await play([{ text: 'done' }], { ...context(strategy), logger: { warn: (event) => logged.push(event) } })
    expect(logged).toEqual(['compactionStrategyFailed'])
    expect(result.status).toBe('completed')
    expect(requestText(model.provider.requests[0])).toContain('[Summary]')
  })

  it('sends messages added by transformContext without storing them', async () => {
    const { agent, model, events } = await play([{ text: 'done' }], {
      transformContext: (messages) => [userMessage('today is Monday'), ...messages],
      captureTurnRequests: true,
    })
    expect(model.provider.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'user'])
    expect(JSON.stringify(agent.messages)).not.toContain('Monday')
    const captured = events.find((event) => event.type === 'turnRequest')
    expect(captured).toMatchObject({ request: { provenance: [{ kind: 'unknown' }, { kind: 'loopTurn' }] } })
  })

  it('applies a profile to options that contain only a model', () => {
    const agent = new Agent(applyProfile({ systemPrompt: 'You review code.', thinking: 'low' }, { model: scripted([]) }))
    expect([agent.settings.systemPrompt, agent.settings.thinking]).toEqual(['You review code.', 'low'])
  })
})

describe('limits of a parallel loop', () => {
  const spending = (output: number) => ({
    model: scripted([
      { toolCalls: [{ name: 'step', arguments: {} }], usage: { output } },
      { text: 'done', usage: { output } },
    ]),
  })
  const run = (limits: { maxTotalTokens: number }) => {
    const judge = scripted([{ text: '2' }])
    const context = { systemPrompt: '', messages: [], tools: [tool('step', () => 'ok')] }
    const shared = { context, emit: () => undefined, signal: new AbortController().signal, limits }
    const running = parallelLoop({
      ...shared,
      prompt: 'go',
      configs: [spending(60), spending(60)],
      strategy: llmJudge({ config: { model: judge } }),
    })
    return { running, judge }
  }

  it('applies to the sum of all branches and the judge', async () => {
    const { running, judge } = run({ maxTotalTokens: 100 })
    const { result, outcomes } = await running
    expect([result.status, outcomes[0]?.result.status]).toEqual(['limit', 'limit'])
    expect(judge.provider.requests).toEqual([])
  })

  it('completes branches and judge within the limits', async () => {
    const { running, judge } = run({ maxTotalTokens: 1000 })
    expect((await running).selectedIndex).toBe(1)
    expect(judge.provider.requests).toHaveLength(1)
  })

  it('rejects invalid limits before any branch starts', async () => {
    await expect(run({ maxTotalTokens: Number.NaN }).running).rejects.toMatchObject({ code: 'invalidOption' })
  })
})
