import { Agent, type Model } from 'phi-core'
import * as z from 'zod'

const plan = z.object({ title: z.string(), steps: z.array(z.object({ task: z.string(), hours: z.number() })) })

/** Shows a plan while the model writes it. */
export async function watchPlan(model: Model, goal: string, show: (line: string) => void): Promise<number> {
  const agent = new Agent({ model, responseFormat: plan, repair: 1 })
  const run = agent.prompt(`Plan this: ${goal}`)
  let title = ''
  for await (const { title: soFar = '' } of run.partial()) {
    if (soFar !== title) show(`# ${soFar}`)
    title = soFar
  }
  // A late reader receives all earlier elements.
  for await (const { task, hours } of run.elements<{ task: string; hours: number }>('steps')) show(`- ${task}: ${hours} h`)
  const { output } = await run.result
  return output?.steps.reduce((sum, { hours }) => sum + hours, 0) ?? 0
}

/** The root does not have to be an object. Here it is one of two words. */
export async function isSpam(model: Model, mail: string): Promise<boolean> {
  const agent = new Agent({ model, responseFormat: z.enum(['spam', 'ham']) })
  return (await agent.prompt(mail).result).output === 'spam'
}
