import { Agent, defineTool } from 'phi-core'
import { sharedState } from 'phi-core/session'
import { scripted } from 'phi-core/testing'
import { z } from 'zod'

// A plan that the model, the tools and the user can edit.
const plan = sharedState({
  schema: z.object({ title: z.string(), steps: z.array(z.object({ text: z.string(), done: z.boolean() })) }),
  initial: { title: '', steps: [] },
})

const addStep = defineTool({
  name: 'add_step',
  description: 'Adds a step to the plan that the user sees.',
  parameters: z.object({ text: z.string() }),
  execute: async ({ text }, ctx) => {
    await plan.of(ctx).set((now) => ({ ...now, steps: [...now.steps, { text, done: false }] }))
    return `The plan has ${plan.of(ctx).value.steps.length} steps.`
  },
})

export async function planTogether(write: (line: string) => void): Promise<void> {
  const model = scripted([{ toolCalls: [{ name: 'add_step', arguments: { text: 'Buy flour' } }] }, { text: 'It is on the plan.' }])
  const agent = new Agent({ model, tools: [addStep], sharedState: plan })
  agent.subscribe((event) => {
    if (event.type === 'sharedStateChanged') write(`version ${event.version}, by the ${event.by}: ${JSON.stringify(event.patch)}`)
  })
  await agent.prompt('We need flour.').result
  // A client sends a change for the version that it has seen.
  await agent.sharedState?.patch([{ op: 'replace', path: '/steps/0/done', value: true }], { by: 'client', ifVersion: 1 })
  write(`version ${agent.sharedState?.version}: ${JSON.stringify(agent.sharedState?.value)}`)
}
