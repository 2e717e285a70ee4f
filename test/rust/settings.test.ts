import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LoopConfigSnapshot } from '../../src/contract/run/run-facts.ts'
import { defaultLimits } from '../../src/contract/run/settings.ts'
import {
  cacheConfigCodec,
  configSnapshotCodec,
  continuationCodec,
  executionLimitsCodec,
  protocolCodec,
  streamDeltaCodec,
  toolExecutionStrategyCodec,
  turnTriggerCodec,
} from '../../src/rust/codecs.ts'
import { toolResultCodec, usageCodec } from '../../src/rust.ts'

describe('usageCodec', () => {
  it('writes snake_case, and requires only input and output', () => {
    const full = { input: 1, output: 2, reasoning: 0, cache_read: 3, cache_write: 4, total_tokens: 10 }
    expect(usageCodec.encode(usageCodec.decode(full))).toEqual(full)
    const usage = { input: 1, output: 2, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }
    expect(usageCodec.decode({ input: 1, output: 2 })).toEqual(usage)
    expect(() => usageCodec.decode({ input: -1, output: 2 })).toThrow('usage.input: expected integer from 0, got number')
    expect(() => usageCodec.decode({ output: 2 })).toThrow('usage.input: expected number, got nothing')
  })
})

describe('executionLimitsCodec', () => {
  it('preserves execution limits (execution_limits_roundtrip)', () => {
    const spec = { max_turns: 50, max_total_tokens: 1_000_000, max_duration: { secs: 600, nanos: 0 }, max_cost: null }
    expect(executionLimitsCodec.encode(defaultLimits)).toEqual(spec)
    expect(executionLimitsCodec.decode(spec)).toEqual(defaultLimits)
    const small = { ...defaultLimits, maxDurationMs: 1500, maxCost: 0.25 }
    expect(executionLimitsCodec.encode(small)).toMatchObject({ max_duration: { secs: 1, nanos: 500_000_000 }, max_cost: 0.25 })
    expect(executionLimitsCodec.decode(executionLimitsCodec.encode(small))).toEqual(small)
  })

  it('reads the largest Rust integer as no limit, and writes a number safe for JSON', () => {
    const endless = { maxTurns: Infinity, maxTotalTokens: Infinity, maxDurationMs: Infinity }
    const spec: unknown = JSON.parse(
      '{"max_turns":18446744073709551615,"max_total_tokens":18446744073709551615,"max_duration":{"secs":18446744073709551615,"nanos":999999999}}',
    )
    expect(executionLimitsCodec.decode(spec)).toEqual(endless)
    expect(executionLimitsCodec.decode(JSON.parse(JSON.stringify(executionLimitsCodec.encode(endless))))).toEqual(endless)
  })

  it('preserves any whole number of milliseconds', () => {
    fc.assert(
      fc.property(fc.nat(), (maxDurationMs) => {
        const limits = { ...defaultLimits, maxDurationMs }
        expect(executionLimitsCodec.decode(executionLimitsCodec.encode(limits))).toEqual(limits)
      }),
    )
  })
})

describe('toolExecutionStrategyCodec', () => {
  it('preserves each strategy (tool_execution_strategy_roundtrip)', () => {
    for (const strategy of [{ type: 'parallel' }, { type: 'sequential' }, { type: 'batched', size: 3 }] as const) {
      expect(toolExecutionStrategyCodec.encode(strategy)).toEqual(strategy)
      expect(toolExecutionStrategyCodec.decode(strategy)).toEqual(strategy)
    }
    expect(() => toolExecutionStrategyCodec.decode({ type: 'batched' })).toThrow('strategy.size: expected number, got nothing')
  })
})

describe('cacheConfigCodec', () => {
  it('reads and writes each strategy', () => {
    const manual = { enabled: true, strategy: { manual: { cache_system: true, cache_tools: true, cache_messages: false } } }
    for (const spec of [{ enabled: true, strategy: 'auto' }, { enabled: true, strategy: 'disabled' }, manual]) {
      expect(cacheConfigCodec.encode(cacheConfigCodec.decode(spec))).toEqual(spec)
    }
    expect(cacheConfigCodec.decode(manual)).toEqual({ type: 'manual', cacheSystem: true, cacheTools: true, cacheMessages: false })
  })

  it('reads enabled: false as disabled', () => {
    expect(cacheConfigCodec.decode({ enabled: false, strategy: 'auto' })).toEqual({ type: 'disabled' })
  })
})

describe('protocolCodec', () => {
  it('uses the stored names of protocols, not those of configuration files', () => {
    const stored = [
      ...['anthropic_messages', 'open_ai_completions', 'open_ai_responses', 'azure_open_ai_responses'],
      ...['google_generative_ai', 'google_vertex', 'bedrock_converse_stream'],
    ]
    for (const name of stored) expect(protocolCodec.encode(protocolCodec.decode(name))).toBe(name)
    expect(() => protocolCodec.decode('openai_completions')).toThrow('got "openai_completions"')
    expect(() => protocolCodec.decode('constructor')).toThrow('api: expected anthropic_messages|')
  })
})

describe('configSnapshotCodec', () => {
  const snapshot: LoopConfigSnapshot = {
    model: 'm',
    provider: 'p',
    name: 'M',
    api: 'azureOpenAiResponses',
    baseUrl: 'https://example.test',
    reasoning: true,
    contextWindow: 10,
    maxTokens: 5,
    thinkingLevel: 'high',
  }

  it('writes a missing config_id as null, and omits other missing fields', () => {
    const spec = configSnapshotCodec.encode(snapshot)
    expect(spec).toMatchObject({ config_id: null, api: 'azure_open_ai_responses', base_url: 'https://example.test', context_window: 10 })
    expect(spec).not.toHaveProperty('temperature')
    expect(configSnapshotCodec.decode(spec)).toEqual(snapshot)
    expect(configSnapshotCodec.decode({ config_id: null })).toEqual({})
  })

  it('omits the scripted protocol, which the crate cannot read', () => {
    const spec = configSnapshotCodec.encode({ ...snapshot, api: 'scripted' })
    expect(spec).not.toHaveProperty('api')
    expect(configSnapshotCodec.decode(spec)).toEqual({ ...snapshot, api: 'scripted' })
  })
})

describe('toolResultCodec', () => {
  it('always writes details, and reads null as absent', () => {
    expect(toolResultCodec.encode({ content: [] })).toEqual({ content: [], details: null })
    expect(toolResultCodec.decode({ content: [], details: null })).toEqual({ content: [] })
    const child = { content: [], details: { a: 1 }, child_loop_id: 'x.sub.1' }
    expect(toolResultCodec.decode(child)).toEqual({ content: [], details: { a: 1 }, childLoopId: 'x.sub.1' })
    expect(toolResultCodec.encode(toolResultCodec.decode(child))).toEqual(child)
    const failed = { content: [], isError: true }
    expect(toolResultCodec.decode(toolResultCodec.encode(failed))).toEqual(failed)
  })
})

describe('continuation, trigger and delta codecs', () => {
  it('writes a continuation kind as a string, or as an object with a tag', () => {
    for (const spec of ['Initial', 'Default', 'Compaction', { Rerun: { tag: 'T' } }, { Branch: { tag: 'T' } }]) {
      expect(continuationCodec.encode(continuationCodec.decode(spec))).toEqual(spec)
    }
    expect(() => continuationCodec.decode(null)).toThrow('continuation: expected Initial|Default|Compaction|{Rerun}|{Branch}, got null')
  })

  it('reads the trigger FollowUp as continuation', () => {
    for (const spec of ['User', 'SubAgent', 'Continuation', 'Branch']) {
      expect(turnTriggerCodec.encode(turnTriggerCodec.decode(spec))).toBe(spec)
    }
    expect(turnTriggerCodec.decode('FollowUp')).toBe('continuation')
    expect(() => turnTriggerCodec.decode('user')).toThrow('trigger: expected User|SubAgent|Continuation|Branch, got "user"')
  })

  it('preserves native keys of stream deltas', () => {
    expect(streamDeltaCodec.decode({ Text: { delta: 'd' } })).toEqual({ type: 'text', contentIndex: 0, delta: 'd' })
    expect(streamDeltaCodec.decode({ Thinking: { delta: 'd' } })).toMatchObject({ type: 'thinking' })
    const call = { type: 'toolCallDelta', contentIndex: 2, toolCallId: 'c', toolName: 'n', delta: '{' } as const
    expect(streamDeltaCodec.encode(call)).toEqual({ ToolCallDelta: { contentIndex: 2, toolCallId: 'c', toolName: 'n', delta: '{' } })
    expect(streamDeltaCodec.decode(streamDeltaCodec.encode(call))).toEqual(call)
    expect(streamDeltaCodec.decode({ ToolCallDelta: { delta: 'd' } })).toMatchObject({ toolCallId: '', toolName: '' })
  })
})
