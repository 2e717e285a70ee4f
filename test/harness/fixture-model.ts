import type { AgentEvent, AgentRun, AgentTool, CostConfig, EventOf, Model } from '../../src/index.ts'
import { defineTool } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import { baseUrl } from './env.ts'

const apiKey = 'test-key'

/** What a test may choose of a model. */
export interface Transport {
  apiKey?: string
  fetch?: typeof fetch
  headers?: Record<string, string>
  firstByteTimeoutMs?: number
  cost?: CostConfig
}

/** A model per protocol the fixture server speaks, at a base of that server or with a transport of its own. */
export const models = {
  anthropic: (baseUrl: string, options: Transport = {}) => anthropic('claude-sonnet-4-5', { apiKey, baseUrl, ...options }),
  openai: (baseUrl: string, options: Transport = {}) => openai('gpt-4o', { apiKey, baseUrl: `${baseUrl}/v1`, ...options }),
  'openai-responses': (baseUrl: string, options: Transport = {}) =>
    openaiResponses('gpt-5.1', { apiKey, baseUrl: `${baseUrl}/v1`, ...options }),
  azure: (baseUrl: string, options: Transport = {}) => azure('fixture', { apiKey, baseUrl, underlyingModel: 'gpt-5.1', ...options }),
  // With credentials to sign with, so that every runtime does.
  bedrock: (baseUrl: string, options: Transport = {}) =>
    bedrock('us.anthropic.claude-sonnet-4-5', { apiKey: 'AKIAFIXTURE:fixture-secret', baseUrl, ...options }),
  google: (baseUrl: string, options: Transport = {}) => google('gemini-2.5-flash', { apiKey, baseUrl, ...options }),
  vertex: (baseUrl: string, options: Transport = {}) => vertex('gemini-3.5-flash', { apiKey, baseUrl, project: 'p', ...options }),
}

/** What the fixture server calls a protocol. */
export type Wire = keyof typeof models

/** The protocols the fixture server speaks. */
export const wires: readonly Wire[] = ['anthropic', 'openai', 'openai-responses', 'azure', 'google', 'vertex', 'bedrock']

/** A model on the fixture server, with what the server knows about it. */
export interface FixtureModel {
  model: Model
  /** The request bodies so far, as JSON text, oldest first. */
  requests(): Promise<string[]>
  /** Lets paused streams go on. */
  release(): Promise<void>
  /** Resolves once the server sees no open stream of this model. */
  idle(): Promise<void>
}

/** A model that answers as scenario `scenario` of test/harness/server/scenarios.ts says; no other test shares it. */
export function fixtureModel(wire: Wire, scenario: string, ...parameters: (string | number)[]): FixtureModel {
  const base = ['', wire, scenario, ...parameters, crypto.randomUUID()].join('/')
  const ask = async (verb: string): Promise<string> => (await fetch(`${baseUrl()}/${verb}${base}`)).text()
  return {
    model: models[wire](`${baseUrl()}${base}`),
    requests: async () => (JSON.parse(await ask('log')) as unknown[]).map((body) => JSON.stringify(body)),
    release: async () => void (await ask('release')),
    idle: async () => void (await ask('idle')),
  }
}

/** `add` as the scenarios call it, and how often it really ran. */
export function addTool(options: { needsApproval?: boolean; whileRunning?: () => void } = {}): { tool: AgentTool; executions(): number } {
  let executions = 0
  const tool = defineTool({
    name: 'add',
    label: 'Add',
    description: 'Adds two numbers.',
    parameters: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
      additionalProperties: false,
    },
    needsApproval: options.needsApproval ?? false,
    execute: ({ a, b }) => {
      executions++
      options.whileRunning?.()
      return `sum ${Number(a) + Number(b)}`
    },
  })
  return { tool, executions: () => executions }
}

/** Every event of a run, once it has ended. `onEvent` sees each as it comes. */
export async function eventsOf(run: AgentRun, onEvent?: (event: AgentEvent) => void | Promise<void>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  for await (const event of run) {
    events.push(event)
    await onEvent?.(event)
  }
  return events
}

/** The events of one type. */
export function ofType<Type extends AgentEvent['type']>(events: AgentEvent[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type)
}
