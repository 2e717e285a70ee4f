import { describe, expect, it } from 'vitest'
import { exploreBranches, type SubAgentOptions, SubAgentTool } from '../../src/agents.ts'
import { Agent, type AgentOptions, ConfigError, memorySessionStore, type PromptOptions, userMessage } from '../../src/index.ts'
import { ClientCalls, Inputs } from '../../src/internal.ts'
import type { LlmJudgeOptions } from '../../src/loop/parallel/llm-judge.ts'
import type { ParallelOptions } from '../../src/loop/parallel/parallel-loop.ts'
import {
  type AgentContext,
  Approvals,
  agentLoop,
  definePlugin,
  type LoopConfig,
  type LoopHooks,
  type LoopOptions,
  llmJudge,
  parallelLoop,
  pickFirst,
} from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { sharedState } from '../../src/session.ts'
import { loadSkills, memoryWorkspace } from '../../src/tools.ts'
import { add } from '../support/play.ts'
import { everySetting } from './every-setting.ts'
import { checkedOptions } from './surface.ts'

// With prices: a limit of the cost is refused without them.
const cost = { inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
const model = scripted(() => ({ text: 'ok' }), { config: { cost } })
const { signal } = new AbortController()
const skills = await loadSkills(memoryWorkspace(), [])
const emit = () => undefined
const act = () => undefined
const journal = { append: async () => undefined }
const budget = { charge: act, exceeded: () => undefined }
const supplier = { waiting: () => false, take: () => [] }
const context = (): AgentContext => ({ systemPrompt: '', messages: [], tools: [] })

const hooks: Required<LoopHooks> = {
  ...{ beforeLoop: act, afterLoop: act, beforeTurn: act, afterTurn: act, onError: act },
  ...{ prepareTurn: act, afterAnswer: act, beforeToolExecutionEnd: act, repairToolCall: act },
  ...{ beforeToolExecution: act, afterToolExecution: act, beforeToolExecutionUpdate: act, afterToolExecutionUpdate: act },
  ...{ beforeCompactionStart: act, afterCompactionEnd: act },
}

const shared: Required<
  Omit<LoopConfig, 'model' | 'checkAnswer' | 'thinking' | 'systemPrompt' | 'skills' | 'firstTurnTrigger' | 'steering' | 'followUps'>
> = {
  configId: 'c',
  ...everySetting,
  cache: { type: 'manual', cacheSystem: true, cacheTools: false, cacheMessages: true },
  resolveMedia: () => new Uint8Array(),
  responseFormat: { type: 'text' },
  toolExecution: { type: 'batched', size: 2 },
  toolTimeoutMs: 1e9,
  limits: { maxTurns: 5, maxTotalTokens: 1e6, maxDurationMs: 1e6, maxCost: 1 },
  retry: { maxRetries: 1, initialDelayMs: 1, backoffMultiplier: 1, maxDelayMs: 1 },
  approvalTimeoutMs: 1,
  hooks,
  inputFilters: [() => ({ type: 'pass' })],
  plugins: [definePlugin({ name: 'p', begin: () => undefined })],
  data: { weather: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } } },
  stopWhen: [() => false],
  repair: 1,
  offload: { over: 1000, workspace: memoryWorkspace(), except: ['read_file'] },
  contextConfig: {
    ...{ maxContextTokens: 1e5, systemPromptTokens: 10, tokenCounter: { text: () => 1, message: () => 1 } },
    compaction: {
      ...{ compactAtPct: 0.9, compactBudgetThresholdPct: 0, scope: { type: 'fixedCount', count: 1 }, keepFirstTurns: 1 },
      ...{ keepRecentTurns: 1, maxSummaryTokens: 1, toolOutputMaxLines: 1, focusMessage: 'x', strategy: { keepFirst: () => 1 } },
    },
  },
  captureTurnRequests: { httpBody: true },
  transformContext: (messages) => messages,
  convertToLlm: () => [],
  contextTranslation: (messages) => messages,
  journal,
  logger: { warn: act },
  observers: [{ watch: act }],
  schemaValidator: { compile: () => () => ({ value: {} }) },
}

checkedOptions<AgentOptions>(
  'new Agent',
  {
    context: { tenant: 'a' },
    ...shared,
    model,
    agentName: 'bench',
    systemPrompt: 'Be brief.',
    skills,
    tools: [add],
    choices: { models: { deep: model }, thinking: ['low', 'max'], tools: { files: [] }, clientTools: ['paint'] },
    messages: [userMessage('hi')],
    thinking: 'low',
    contextManagement: false,
    steeringMode: 'all',
    followUpMode: 'all',
    workspace: memoryWorkspace(),
    agentId: 'a',
    sessionId: 's',
    session: memorySessionStore(),
    sharedState: sharedState({ schema: { type: 'object' }, initial: {} }),
    owns: [{ close: act }],
    replayBytes: 1000,
  },
  (options) => new Agent(options),
  ['model'],
)

const prompts: Required<PromptOptions> = {
  ...everySetting,
  context: { tenant: 'a' },
  model: 'deep',
  tools: ['files'],
  clientTools: [{ name: 'paint', description: 'Paints.', parameters: { type: 'object' } }],
  thinking: 'max',
  repair: 0,
  signal,
  metadata: { a: [1] },
  budget,
  kind: { kind: 'rerun', tag: 't' },
  responseFormat: { type: 'text' },
}
const choices = { models: { deep: model }, tools: { files: [] }, clientTools: ['paint'] }
checkedOptions<PromptOptions>('agent.prompt', prompts, (options) => new Agent({ model, choices }).prompt('go', options).result)
checkedOptions<PromptOptions>(
  'agent.continueLoop',
  prompts,
  (options) => new Agent({ model, choices, messages: [userMessage('hi')] }).continueLoop(options).result,
)
checkedOptions<NonNullable<Parameters<Agent['compact']>[0]>>(
  'agent.compact',
  { signal, metadata: 1, context: 1, budget, focusMessage: 'names' },
  (options) => new Agent({ model }).compact(options).result,
)

checkedOptions<LoopConfig>(
  'agentLoop, its configuration',
  {
    ...shared,
    model,
    systemPrompt: () => 'x',
    checkAnswer: async () => undefined,
    skills,
    thinking: 'low',
    firstTurnTrigger: 'user',
    steering: supplier,
    followUps: supplier,
  },
  (config) => agentLoop('go', context(), config, { emit, signal }),
  ['model'],
)
checkedOptions<LoopOptions>(
  'agentLoop',
  {
    emit,
    signal,
    context: { tenant: 'a' },
    runId: 'r',
    metadata: {},
    budget,
    approvals: new Approvals(),
    inputs: new Inputs(),
    clientCalls: new ClientCalls(),
    approvalRule: () => true,
    agentName: 'child',
    sharedState: {
      subscribe: () => () => undefined,
      ofCall: () => {
        throw new Error('No call is made.')
      },
    },
    runningTools: new Map(),
  },
  (options) => agentLoop('go', context(), { model }, options),
  ['emit', 'signal'],
)
checkedOptions<ParallelOptions>(
  'parallelLoop',
  {
    ...{ prompt: 'go', context: context(), configs: [{ model }], strategy: pickFirst, emit, signal, limits: { maxTotalTokens: 1e6 } },
    ...{ budget, runId: 'r', metadata: {}, runContext: { tenant: 'a' } },
  },
  (options) => parallelLoop(options),
  ['prompt', 'context', 'configs', 'strategy', 'emit', 'signal'],
)
checkedOptions<LlmJudgeOptions>('llmJudge', { config: { model }, systemPrompt: 'x' }, llmJudge, ['config'])

const { cache, toolExecution, toolTimeoutMs, approvalTimeoutMs, inputFilters, plugins, retry, schemaValidator, logger } = shared
const { requireMedia, resolveMedia } = shared
checkedOptions<SubAgentOptions>(
  'SubAgentTool',
  {
    ...{ name: 'child', label: 'Child', description: 'Helps.', systemPrompt: 'x', tools: [add], model, ...everySetting },
    ...{ approvalTimeoutMs, hooks, inputFilters, plugins, requireMedia, resolveMedia, skills },
    ...{ cache, toolExecution, toolTimeoutMs, retry, schemaValidator, logger, thinking: 'low', timeoutMs: 1, needsApproval: true },
    ...{ session: memorySessionStore(), forward: 'events', maxTurns: 1, maxTotalTokens: 1, maxDurationMs: 1 },
    background: { onRunEnd: 'stop', maxRunning: 1 },
  },
  (options) => new SubAgentTool(options),
  ['name', 'description', 'model'],
)

describe('nested agent options', () => {
  it.each<[string, object, RegExp]>([
    ['a misspelled limit', { limits: { maxTurn: 3 } }, /maxTurn \(3\) is not an option of limits\. Did you mean maxTurns\?/],
    ['a limit outside limits', { maxTurns: 3 }, /maxTurns \(3\) is not an option\. Did you mean limits\.maxTurns\?/],
    ['a string as a limit', { limits: { maxTurns: '3' } }, /limits\.maxTurns is "3"; it must be a number from 0/],
    ['an unknown hook', { hooks: { beforeTurns: () => true } }, /beforeTurns.*Did you mean beforeTurn\?/],
    ['a batched strategy without a size', { toolExecution: { type: 'batched' } }, /toolExecution\.size is undefined/],
    ['an unknown strategy', { toolExecution: 'serial' }, /toolExecution is "serial"/],
    ['an unknown retry option', { retry: { retries: 3 } }, /retries \(3\) is not an option of retry\. Did you mean maxRetries\?/],
    [
      'a percentage in place of a fraction',
      { contextConfig: { compaction: { compactAtPct: 90 } } },
      /compactAtPct is 90; it must be a number from 0 to 1/,
    ],
    ['two tools with the same name', { tools: [add, add] }, /Two tools are named "add"/],
    ['an invalid tool', { tools: ['add'] }, /tools\[0\] is "add"; it must be a tool/],
    ['a tool without a name', { tools: [{ ...add, name: '' }] }, /tools\[0\]\.name is ""; it must be a name of 1 to 64 letters/],
    ['a tool with an invalid name', { tools: [{ ...add, name: 'a b' }] }, /tools\[0\]\.name is "a b"/],
    ['a tool without execute', { tools: [{ ...add, execute: undefined }] }, /tools\[0\]\.execute is undefined/],
    ['a model id in place of a model', { model: 'claude-sonnet-5' }, /model is "claude-sonnet-5"; it must be a model from a factory/],
    ['an apiKey among agent options', { apiKey: 'sk-secret-0123456789' }, /apiKey \(a text\) is not an option/],
    ['session together with journal', { session: memorySessionStore(), journal }, /Pass only one/],
  ])('rejects %s', (_, options, message) => {
    const make = () => new Agent({ model, ...options } as AgentOptions)
    expect(make).toThrow(ConfigError)
    expect(make).toThrow(message)
    expect(String(catching(make))).not.toContain('sk-secret')
  })

  it('accepts class instances with extra fields', () => {
    class Counting implements LoopHooks {
      turns = 0
      beforeTurn = () => ++this.turns > 0
    }
    expect(() => new Agent({ model, hooks: new Counting() })).not.toThrow()
  })

  it('requires whole numbers of tokens', () => {
    expect(() => new Agent({ model, maxTokens: 1.5 })).toThrow(/maxTokens/)
    expect(() => new Agent({ model }).prompt('Hi.', { maxTokens: 0.5 })).toThrow(/maxTokens/)
  })

  it('treats undefined as absent', () => {
    expect(() => new Agent({ model, limits: undefined, toolExecution: undefined } as never)).not.toThrow()
    const agent = new Agent({ model, maxTokens: 5 })
    agent.configure({ maxTokens: undefined })
    expect(agent.settings.maxTokens).toBeUndefined()
  })

  it('rejects a setting that cannot change, without applying the others', () => {
    const agent = new Agent({ model, maxTokens: 5 })
    expect(() => agent.configure({ maxTokens: 6, sessionId: 's' } as never)).toThrow(/sessionId \("s"\) is not an option/)
    expect(() => agent.configure({ maxTokens: 6, thinking: 'deep' } as never)).toThrow(/thinking is "deep"/)
    expect(agent.settings.maxTokens).toBe(5)
  })

  it('rejects an AbortController as signal and leaves the agent idle', async () => {
    const agent = new Agent({ model })
    expect(() => agent.prompt('go', { signal: new AbortController() as never })).toThrow(
      /signal is of type AbortController; it must be an AbortSignal/,
    )
    expect(agent.isStreaming).toBe(false)
    expect((await agent.prompt('go').result).status).toBe('completed')
  })

  it('validates branch options like agent options', () => {
    const agent = new Agent({ model, messages: [userMessage('hi')] })
    expect(() => exploreBranches(agent, [{ tag: 'a', maxToken: 3 } as never])).toThrow(/Did you mean maxTokens/)
    expect(() => exploreBranches(agent, [{ tag: 1 } as never])).toThrow(/tag is 1/)
    expect(() => exploreBranches(agent, [], { limit: {} } as never)).toThrow(/Did you mean limits/)
  })
})

describe('agent option shorthands', () => {
  it("runs calls one after the other with 'sequential'", async () => {
    const running = { now: 0, most: 0 }
    const slow = {
      ...add,
      execute: async () => {
        running.most = Math.max(running.most, ++running.now)
        await Promise.resolve()
        running.now -= 1
        return 'ok'
      },
    }
    const calls = { toolCalls: [1, 2, 3].map((a) => ({ name: 'add', arguments: { a, b: 1 } })) }
    for (const toolExecution of ['parallel', 'sequential'] as const) {
      running.most = 0
      await new Agent({ model: scripted([calls, { text: 'ok' }]), tools: [slow], toolExecution }).prompt('go').result
      expect(running.most).toBe(toolExecution === 'parallel' ? 3 : 1)
    }
  })

  it('disables retries with false, and accepts a cache strategy name', async () => {
    const failing = scripted([{ fail: { code: 'network', message: 'cut' } }, { text: 'never' }])
    const agent = new Agent({ model: failing, retry: false, cache: 'disabled' })
    expect((await agent.prompt('go').result).error).toMatchObject({ code: 'network' })
    expect(failing.provider.requests).toMatchObject([{ cache: { type: 'disabled' } }])
  })
})

function catching(make: () => unknown): unknown {
  try {
    return make()
  } catch (error) {
    return error
  }
}
