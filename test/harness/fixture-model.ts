import type { AgentEvent, AgentRun, AgentTool, Model } from '../../src/index.ts'
import { defineTool } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { openai } from '../../src/providers/openai/index.ts'
import { baseUrl } from './env.ts'

/** The protocols the fixture server speaks. */
export const wires = ['anthropic', 'openai'] as const

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
export function fixtureModel(wire: (typeof wires)[number], scenario: string, ...parameters: (string | number)[]): FixtureModel {
  const base = ['', wire, scenario, ...parameters, crypto.randomUUID()].join('/')
  const at = `${baseUrl()}${base}`
  const options = { apiKey: 'test-key' }
  const ask = async (verb: string): Promise<string> => (await fetch(`${baseUrl()}/${verb}${base}`)).text()
  return {
    model:
      wire === 'anthropic'
        ? anthropic('claude-sonnet-4-5', { ...options, baseUrl: at })
        : openai('gpt-4o', { ...options, baseUrl: `${at}/v1` }),
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
export function ofType<Type extends AgentEvent['type']>(events: AgentEvent[], type: Type): Extract<AgentEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type)
}
