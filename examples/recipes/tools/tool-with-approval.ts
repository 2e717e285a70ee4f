import { Agent, defineTool, type Model } from 'phi-core'
import { z } from 'zod'

// #region tool
/** The schema types and validates the arguments. Mail to other domains requires approval. */
export const sendMail = defineTool({
  name: 'send_mail',
  description: 'Sends an email.',
  parameters: z.object({ to: z.email(), subject: z.string().min(1), body: z.string() }),
  needsApproval: ({ to }) => !to.endsWith('@example.com'),
  timeoutMs: 10_000,
  execute: async ({ to, subject }, { progress }) => {
    progress(`connecting for ${to}`)
    return `sent "${subject}" to ${to}`
  },
})
// #endregion tool

// #region run
/** `confirm` shows the arguments to the user. The decision applies to exactly this request. */
export async function runWithApproval(model: Model, prompt: string, confirm: (text: string) => Promise<boolean>): Promise<string> {
  const run = new Agent({ model, tools: [sendMail] }).prompt(prompt)
  for await (const event of run) {
    if (event.type !== 'approvalRequested') continue
    if (await confirm(`${event.toolName} ${JSON.stringify(event.args)}`)) run.approve(event)
    else run.deny(event, 'The user does not want this mail.')
  }
  return run.text()
}
// #endregion run
