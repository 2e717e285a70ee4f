// This package as a contender of an agent-loop benchmark: `run` drives one agent to the end over the given `fetch`.
// Interface: wires spoken, packages imported, and `entry`, the smallest program with one tool and Anthropic.
import { Agent, defineTool } from 'phi-core'
import { anthropic } from 'phi-core/providers/anthropic'
import { openai } from 'phi-core/providers/openai'

export const packages = ['phi-core', 'phi-core/providers/anthropic', 'phi-core/providers/openai']
export const wires = ['anthropic', 'openai']

const factories = { anthropic, openai }
const parameters = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' }, note: { type: 'string' } },
  required: ['a', 'b', 'note'],
}

export async function run({ wire, baseURL, fetch, apiKey, model, system, prompt, maxTurns, execute, onText, agentOptions = {} }) {
  const agent = new Agent({
    model: factories[wire](model, { apiKey, baseUrl: baseURL, fetch }),
    systemPrompt: system,
    tools: [defineTool({ name: 'add', description: 'Add two numbers', parameters, execute })],
    limits: { maxTurns, maxTotalTokens: Number.POSITIVE_INFINITY, maxDurationMs: Number.POSITIVE_INFINITY },
    ...agentOptions,
  })
  const agentRun = agent.prompt(prompt)
  agentRun.subscribe((event) => {
    if (event.type === 'messageUpdate' && event.delta.type === 'text') onText(event.delta.delta)
  })
  const { error, text } = await agentRun.result
  if (error) throw new Error(error.message)
  return { text }
}

export const entry = `
import { Agent, defineTool } from 'phi-core';
import { anthropic } from 'phi-core/providers/anthropic';
export async function run(apiKey) {
  const add = defineTool({
    name: 'add', description: 'Add two numbers',
    parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    execute: ({ a, b }) => String(a + b),
  });
  const agent = new Agent({ model: anthropic('claude-sonnet-4-6', { apiKey }), tools: [add] });
  return agent.prompt('What is 1 + 2?').text();
}
`
