// The interface of ../shared/conformance/check.mjs on the sources of this package (Node 24 strips the types).
import { Agent, textOf, toolCallsOf } from '../../src/index.ts'
import { defaultLimits } from '../../src/loop.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'

const factories = {
  anthropic_messages: anthropic,
  openai_completions: openai,
  openai_responses: openaiResponses,
  azure_openai_responses: azure,
  google_generative_ai: google,
  google_vertex: vertex,
  bedrock_converse_stream: bedrock,
}

export const supports = Object.keys(factories)

/** What the model wrote, where it was JSON: the recordings tell `null` from `{}`, which are both "no arguments" to a tool. */
function asWritten(raw, args) {
  return raw === 'null' ? null : args
}

/** Recordings of Google have schemas in its own dialect, which writes types in capitals. */
function asJsonSchema(schema) {
  return JSON.parse(JSON.stringify(schema), (key, value) => (key === 'type' && typeof value === 'string' ? value.toLowerCase() : value))
}

/** One model call on a recorded stream. */
export async function run({ protocol, baseUrl, model, signal }) {
  const { config, provider } = factories[protocol](model, { baseUrl })
  const deltas = { text: '', thinking: '' }
  const raw = new Map()
  const emit = (event) => {
    if (event.type === 'toolCallDelta') raw.set(event.toolCallId, (raw.get(event.toolCallId) ?? '') + event.delta)
    // A refusal has a place of its own.
    else if (event.type !== 'start' && event.refusal !== true) deltas[event.type] += event.delta
  }
  const request = {
    model: config,
    credential: 'x',
    systemPrompt: '',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }], timestamp: 0 }],
    tools: [],
    thinkingLevel: 'off',
    cache: { type: 'auto' },
  }
  let message
  let error
  try {
    message = await provider.stream(request, emit, signal ?? new AbortController().signal)
  } catch (thrown) {
    error = thrown
    message = thrown.partial ?? { content: [], stopReason: 'error' }
  }
  const toolCalls = toolCallsOf(message.content).map(({ id, name, arguments: args }) => ({
    id,
    name,
    arguments: asWritten(raw.get(id), args),
  }))
  const result = {
    text: textOf(message.content),
    thinking: message.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    toolCalls,
    stopReason: error === undefined ? message.stopReason : 'error',
    deltas,
  }
  if (message.usage !== undefined) result.usage = message.usage
  if (error !== undefined) result.error = error
  return result
}

/** One agent per recorded conversation: all its user messages are the prompt. */
export async function runAgent({ protocol, baseUrl, model, system, userMessages, tools, maxTurns }) {
  const raw = new Map()
  const agent = new Agent({
    model: factories[protocol](model, { baseUrl, apiKey: 'x' }),
    systemPrompt: system ?? '',
    tools: tools.map(({ name, description, parameters, execute }) => {
      // `strict` is an option of OpenAI's that some recordings have inside the schema.
      const { strict: _, ...schema } = parameters
      return {
        name,
        label: name,
        description,
        parameters: asJsonSchema(schema),
        execute: async (args, { toolCallId }) => String(await execute(asWritten(raw.get(toolCallId), args))),
      }
    }),
    limits: { ...defaultLimits, maxTurns },
  })
  agent.subscribe((event) => {
    if (event.type !== 'messageUpdate' || event.delta.type !== 'toolCallDelta') return
    const { toolCallId, delta } = event.delta
    raw.set(toolCallId, (raw.get(toolCallId) ?? '') + delta)
  })
  const prompts = userMessages.map((text) => ({ role: 'user', content: [{ type: 'text', text }], timestamp: 0 }))
  const result = await agent.prompt(prompts).result
  if (result.status === 'error') throw new Error(result.error.message)
  return { finalText: result.text }
}
