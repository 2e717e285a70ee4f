import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/contract/errors.ts'
import type { Content } from '../../src/contract/message/content.ts'
import type { AssistantMessage } from '../../src/contract/message/message.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import type { StreamRequest } from '../../src/types/model/provider.ts'
import { answering as awsAnswering, frame } from './bedrock/call.ts'
import { answering, type Ending, sse } from './bytes.ts'
import { plainRequest } from './model-call.ts'

type Json = Record<string, unknown>
type Aws = [type: string, fields: Json]

interface Service {
  model: (chunks: readonly unknown[], ending?: Ending) => Model
  /** Opens a hosted tool and says nothing more of it. */
  open: unknown[]
  end: unknown[]
  fault: unknown
}

const overloaded = { error: { type: 'overloaded_error', message: 'Overloaded' } }
const toolStart: Aws = [
  'contentBlockStart',
  { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'st_1', name: 'nova_grounding', type: 'server_tool_use' } } },
]

const services: Record<string, Service> = {
  anthropic: {
    model: (chunks, ending) => anthropic('claude-test', { fetch: answering([sse(...chunks)], ending) }),
    open: [
      { type: 'message_start', message: { id: 'm' } },
      { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', id: 'st_1', name: 'web_search', input: {} } },
    ],
    end: [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }],
    fault: { type: 'error', ...overloaded },
  },
  responses: {
    model: (chunks, ending) => openaiResponses('gpt-test', { fetch: answering([sse(...chunks)], ending) }),
    open: [{ type: 'response.output_item.added', output_index: 0, item: { type: 'web_search_call', id: 'st_1', status: 'in_progress' } }],
    end: [{ type: 'response.completed', response: { status: 'completed' } }],
    fault: { type: 'error', ...overloaded },
  },
  gemini: {
    model: (chunks, ending) => google('gemini-3.8-flash', { fetch: answering([sse(...chunks)], ending) }),
    open: [{ candidates: [{ content: { parts: [{ executableCode: { id: 'st_1', language: 'PYTHON', code: '1' } }] } }] }],
    end: [{ candidates: [{ content: { parts: [{ text: '.' }] }, finishReason: 'STOP' }] }],
    fault: { error: { code: 503, status: 'UNAVAILABLE', message: 'Overloaded' } },
  },
  bedrock: {
    model: (chunks, ending) =>
      bedrock('us.amazon.nova-2-lite-v1:0', {
        fetch: awsAnswering(
          (chunks as Aws[]).map(([type, data]) => frame(type, data)),
          ending,
        ),
      }),
    open: [['messageStart', {}], toolStart],
    end: [
      ['messageStop', { stopReason: 'end_turn' }],
      ['metadata', {}],
    ],
    fault: ['serviceUnavailableException', { message: 'Overloaded' }],
  },
  chat: {
    model: (chunks, ending) => openai('gpt-5.2', { fetch: answering([sse(...chunks)], ending) }),
    open: [{ choices: [{ delta: { executed_tools: [{ index: 0, type: 'search', arguments: '{}' }] } }] }],
    end: [{ choices: [{ delta: { content: '.' }, finish_reason: 'stop' }] }, '[DONE]'],
    fault: overloaded,
  },
}

/** The message that a call comes to, finished or not. `whenOpen` runs once the tool was shown. */
async function messageOf({ provider, config }: Model, changes: Partial<StreamRequest> = {}, controller = new AbortController()) {
  const emit = (event: { type: string }) => {
    if (event.type === 'block' && changes.systemPrompt === 'abort') queueMicrotask(() => controller.abort())
  }
  try {
    return await provider.stream(plainRequest(config, changes), emit, controller.signal)
  } catch (error) {
    return error instanceof ProviderError ? error.partial : undefined
  }
}

const toolsOf = (message: AssistantMessage | undefined) => (message?.content ?? []).filter((each: Content) => each.type === 'serviceTool')
const closed = [{ status: 'failed', error: { code: expect.any(String) } }]

describe.each(Object.entries(services))('a hosted tool that %s left open', (_name, { model, open, end, fault }) => {
  it('marks the tool as failed after a finished response', async () => {
    const message = await messageOf(model([...open, ...end]))
    expect(message?.stopReason).toBe('stop')
    expect(toolsOf(message)).toMatchObject(closed)
  })

  it('marks the tool as failed after a provider error', async () => {
    const message = await messageOf(model([...open, fault]))
    expect(message?.stopReason).toBe('error')
    expect(toolsOf(message)).toMatchObject(closed)
  })

  it('marks the tool as failed after an abort', async () => {
    const message = await messageOf(model(open, 'hang'), { systemPrompt: 'abort' })
    expect(message?.stopReason).toBe('aborted')
    expect(toolsOf(message)).toMatchObject(closed)
  })

  it.each(['close', 'break'] as const)('marks the tool as failed after the connection ends with "%s"', async (ending) => {
    const message = await messageOf(model(open, ending))
    expect(message?.stopReason).toBe('error')
    expect(toolsOf(message)).toMatchObject(closed)
  })
})

describe('a hosted tool opened by an earlier part of a paused response', () => {
  const opened: AssistantMessage = {
    role: 'assistant',
    content: [{ type: 'serviceTool', id: 'st_0', name: 'web_search', status: 'running' }],
    stopReason: 'paused',
    model: 'claude-test',
    provider: 'anthropic',
    usage: { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 2 },
    timestamp: 1,
  }
  const part = (stop_reason: string) =>
    anthropic('claude-test', {
      fetch: answering([
        sse(
          { type: 'message_start', message: { id: 'm' } },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Tea.' } },
          { type: 'message_delta', delta: { stop_reason } },
          { type: 'message_stop' },
        ),
      ]),
    })

  it('marks the tool as failed if a later part ends without its result', async () => {
    expect(toolsOf(await messageOf(part('end_turn'), { continues: structuredClone(opened) }))).toMatchObject(closed)
  })

  it('keeps the tool running while the response pauses again', async () => {
    const message = await messageOf(part('pause_turn'), { continues: structuredClone(opened) })
    expect(toolsOf(message)).toMatchObject([{ status: 'running' }])
  })
})

describe('a hosted tool in parallel with a client tool call', () => {
  it('keeps the tool running for Anthropic, which continues after our tool result', async () => {
    const { model, open } = services.anthropic ?? expect.fail('no such service')
    const call = { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c', name: 'read', input: {} } }
    const message = await messageOf(
      model([...open, call, { type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }]),
    )
    expect(message?.stopReason).toBe('toolUse')
    expect(toolsOf(message)).toMatchObject([{ status: 'running' }])
  })

  it('marks the tool as failed for Chat Completions, which never continues it', async () => {
    const { model, open } = services.chat ?? expect.fail('no such service')
    const call = { index: 0, id: 'c', function: { name: 'read', arguments: '{}' } }
    const message = await messageOf(model([...open, { choices: [{ delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }]))
    expect(message?.stopReason).toBe('toolUse')
    expect(toolsOf(message)).toMatchObject(closed)
  })
})

describe('a hosted tool approval request', () => {
  const item = { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 's', name: 'n', arguments: '{}' }
  const added = { type: 'response.output_item.done', output_index: 0, item }

  it('keeps the request open after a finished response', async () => {
    const { model, end } = services.responses ?? expect.fail('no such service')
    const message = await messageOf(model([added, ...end]))
    expect(toolsOf(message)).toMatchObject([{ status: 'running', needsApproval: true }])
  })

  it('marks the request as failed after a failed response', async () => {
    const { model, fault } = services.responses ?? expect.fail('no such service')
    expect(toolsOf(await messageOf(model([added, fault])))).toMatchObject(closed)
  })
})
